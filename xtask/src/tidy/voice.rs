//! Texts name the actor and use the term of the field, so that a reader understands them without the code and finds a
//! mechanism by searching for its usual name. Checked are comments of Rust, SQL and TypeScript, Markdown outside of code,
//! texts of shipped Rust code and of the web UI.

use super::links::prose;
use super::problem::Problem;
use super::rust_source::{code_without_tests, split};
use super::tree::{File, Tree};

/// Pronouns and paraphrases, each with a replacement.
const REFUSED: &[(&str, &str)] = &[
    // sorted
    ("again and again", "periodically, or the number of retries"),
    ("anybody", "the caller, the user or the client"),
    ("anyone", "the caller, the user or the client"),
    ("are told", "receives"),
    ("everybody", "all users, all servers or all clients"),
    ("everyone", "all users, all servers or all clients"),
    ("has it not", "does not have it"),
    ("in other hands", "lost lease, or takeover"),
    ("is told", "receives"),
    ("nobody", "no user, no server or no client"),
    ("of long ago", "stale, or expired"),
    ("somebody", "a user, a server or a client"),
    ("someone", "a user, a server or a client"),
    ("takes the place of", "replaces"),
    ("take the place of", "replace"),
    ("that which", "the noun"),
    ("took the place of", "replaced"),
    ("was told", "received"),
    ("were told", "received"),
    ("what becomes", "the result, or the state"),
    ("whoever", "the caller, the driver or the agent"),
    // end sorted
];

/// Texts that need a refused word: path, word and reason.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    // sorted
    ("crates/orchestrator/src/agents/command.rs", "nobody", "a name on the wire, which earlier servers send"),
    // end sorted
];

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    tree.files.iter().filter(|file| !file.is_generated()).flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (line, text) in texts(file) {
        let text = text.to_lowercase();
        for (phrase, replacement) in REFUSED.iter().filter(|(phrase, _)| contains_phrase(&text, phrase)) {
            if EXCEPTIONS.iter().any(|(path, word, _)| *path == file.path && word == phrase) {
                continue;
            }
            let message = format!("`{phrase}` does not say who or what");
            let help = format!("name the actor or the mechanism ({replacement})");
            problems.push(Problem::error(&file.path, line, message, help));
        }
    }
    problems
}

/// Returns the texts of a file that readers see, by line.
fn texts(file: &File) -> Vec<(usize, String)> {
    let numbered =
        |text: &str| text.lines().enumerate().map(|(idx, line)| (idx + 1, line.to_owned())).collect();
    match file {
        // The rule lists the words.
        _ if file.path == "xtask/src/tidy/voice.rs" => Vec::new(),
        _ if file.is_rust() => {
            let mut texts = prose(&split(&file.text).comments);
            if !file.is_test_only() {
                texts.extend(shipped_literals(&file.text));
            }
            texts
        }
        _ if file.has_extension(&["md"]) => prose(&file.text),
        _ if file.has_extension(&["sql"]) => {
            let comment =
                |line: &str| line.split_once("--").map_or_else(String::new, |(_, text)| text.to_owned());
            file.text.lines().enumerate().map(|(idx, line)| (idx + 1, comment(line))).collect()
        }
        _ if file.has_extension(&["ts", "tsx"]) && !file.name().contains(".test.") => numbered(&file.text),
        _ => Vec::new(),
    }
}

/// Returns the string literals outside of tests, by line.
fn shipped_literals(text: &str) -> Vec<(usize, String)> {
    let views = split(text);
    let shipped = code_without_tests(text);
    let mut is_test = false;
    let mut literals = Vec::new();
    let lines = text.lines().zip(views.code.lines()).zip(views.comments.lines().zip(shipped.lines()));
    for (line_idx, ((line, code), (comment, shipped))) in lines.enumerate() {
        if !code.trim().is_empty() {
            is_test = shipped.trim().is_empty();
        }
        if !is_test {
            let hidden = line.chars().zip(code.chars().zip(comment.chars()));
            let literal =
                hidden.map(|(c, (code, comment))| if code == ' ' && comment == ' ' { c } else { ' ' });
            literals.push((line_idx + 1, literal.collect()));
        }
    }
    literals
}

fn contains_phrase(text: &str, phrase: &str) -> bool {
    let is_edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '_');
    text.match_indices(phrase).any(|(at, _)| {
        is_edge(text[..at].chars().next_back()) && is_edge(text[at + phrase.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        check(&Tree::of(&[(path, text)])).into_iter().map(|problem| problem.line).collect()
    }

    #[test]
    fn paraphrases_in_comments_and_texts_are_reported() {
        let text = "/// Whoever holds the lease.\nlet a = \"the run is in other hands\";\n// Sent again and again.\n";
        assert_eq!(lines("crates/a/src/a.rs", text), [1, 3, 2]);
        assert_eq!(lines("docs/a.md", "The server is told.\n\nNobody knows.\n"), [1, 3]);
        assert_eq!(
            lines("crates/store/migrations/sqlite/1.sql", "-- Whoever sends\nSELECT 1; -- somebody\n"),
            [1, 2]
        );
        assert_eq!(lines("ui/src/a.tsx", "<p>Anyone may read this.</p>\n"), [1]);
    }

    #[test]
    fn code_fixtures_and_longer_words_pass() {
        let text = "let nobody = is_told; // `nobody`\n#[cfg(test)]\nmod tests {\n    fn a() { call(\"nobody\"); }\n}\n";
        assert_eq!(lines("crates/a/src/a.rs", text), [0; 0]);
        assert_eq!(lines("crates/a/tests/a.rs", "call(\"nobody\");\n"), [0; 0]);
        assert_eq!(lines("docs/a.md", "`nobody` and nobodys\n```\nnobody\n```\n"), [0; 0]);
        assert_eq!(lines("ui/src/a.test.ts", "login(\"nobody\")"), [0; 0]);
    }
}
