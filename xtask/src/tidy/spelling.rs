//! Prose has one spelling, so that a search finds all places: British, with `-ize`. Checked are Markdown outside of code and
//! comments of Rust outside of backticks. Identifiers, code and names of others keep theirs.

use super::links::prose;
use super::problem::Problem;
use super::rust_source::split;
use super::tree::{File, Tree};

/// Stems of American spellings and the British ones. A stem matches the start of a word, up to one of [`ENDINGS`].
const STEMS: &[(&str, &str)] = &[
    // sorted
    ("analyz", "analys"),
    ("behavior", "behaviour"),
    ("cancel", "cancell"),
    ("center", "centre"),
    ("color", "colour"),
    ("favor", "favour"),
    ("gray", "grey"),
    ("honor", "honour"),
    ("label", "labell"),
    ("license", "licence"),
    ("model", "modell"),
    ("neighbor", "neighbour"),
    // end sorted
];

/// Endings before which British doubles the `l` of a verb.
const VERB_ENDINGS: &[&str] = &["ed", "ing"];
const ENDINGS: &[&str] = &["", "e", "ed", "er", "es", "ing", "s"];
/// Names of others.
const NAMES: &[&str] = &["Apache License"];

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    tree.files.iter().filter(|file| !file.is_generated()).flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Problem> {
    let lines = match file {
        _ if file.is_rust() => prose(&split(&file.text).comments),
        _ if file.has_extension(&["md"]) => prose(&file.text),
        _ => return Vec::new(),
    };
    let mut problems = Vec::new();
    for (line, mut text) in lines {
        for name in NAMES {
            text = text.replace(name, "");
        }
        let words = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '\'')));
        for (word, british) in words.filter_map(|word| Some((word, british(word)?))) {
            let message = format!("`{word}` is American spelling");
            problems.push(Problem::error(&file.path, line, message, format!("write `{british}`")));
        }
    }
    problems
}

/// Returns the British spelling of a word, if it differs. All-uppercase words are names of files or variables.
fn british(word: &str) -> Option<String> {
    let word = word.trim_start_matches(['\'', '/']).trim_end_matches(['.', '\'', '-', '/']);
    if !word.chars().any(char::is_lowercase) {
        return None;
    }
    let lower = word.to_lowercase();
    STEMS.iter().find_map(|(american, british)| {
        let ending = lower.strip_prefix(american)?;
        let is_doubled = british.ends_with("ll");
        let endings = if is_doubled { VERB_ENDINGS } else { ENDINGS };
        let is_vowel = ending.starts_with(['e', 'i']);
        let stem = if is_vowel { british.strip_suffix('e').unwrap_or(british) } else { british };
        endings.contains(&ending).then(|| format!("{stem}{ending}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suggestions(path: &str, text: &str) -> Vec<(usize, String)> {
        check(&Tree::of(&[(path, text)])).into_iter().map(|problem| (problem.line, problem.help)).collect()
    }

    fn expected(words: &[(usize, &str)]) -> Vec<(usize, String)> {
        words.iter().map(|(line, word)| (*line, format!("write `{word}`"))).collect()
    }

    #[test]
    fn american_spelling_in_prose_is_reported() {
        let text = "The behavior\nof colored, canceled and labeled things.\n## License\nAnalyzes neighbors' centers, centered.\n";
        let words = [
            (1, "behaviour"),
            (2, "coloured"),
            (2, "cancelled"),
            (2, "labelled"),
            (3, "licence"),
            (4, "analyses"),
            (4, "neighbours"),
            (4, "centres"),
            (4, "centred"),
        ];
        assert_eq!(suggestions("docs/a.md", text), expected(&words));
        assert_eq!(
            suggestions("crates/a/src/a.rs", "/// A color.\nlet color = \"color\"; // gray"),
            expected(&[(1, "colour"), (2, "grey")])
        );
    }

    #[test]
    fn code_names_and_british_words_pass() {
        let text = "`color` [LICENSE](LICENSE), Apache License 2.0, cancel, label, model, models, colour, licence, colorize\n\
                    ```\ncolor: red\n```\nui/color.css `a` center_of\n";
        assert_eq!(suggestions("README.md", text), []);
        assert_eq!(suggestions("crates/a/src/a.rs", "let center = 1; // `center`, --color, color.rs\n"), []);
        assert_eq!(suggestions("ui/src/a.css", "color: red"), []);
    }
}
