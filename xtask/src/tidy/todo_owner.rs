//! Every `TODO` has an owner: `TODO(name): what`.

use super::problem::Problem;
use super::rust_source::split;
use super::tree::{File, Tree};

const WORDS: &[&str] = &["TODO", "FIXME", "XXX"];

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    tree.files.iter().flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Problem> {
    let comments = if file.is_rust() {
        split(&file.text).comments
    } else if file.has_extension(&["py", "sh", "toml", "yaml", "yml"]) {
        after_mark(&file.text, "#")
    } else if file.has_extension(&["ts", "tsx", "js", "css"]) {
        after_mark(&file.text, "/")
    } else if file.has_extension(&["sql"]) {
        after_mark(&file.text, "--")
    } else {
        return Vec::new();
    };
    let mut problems = Vec::new();
    for (line_idx, line) in comments.lines().enumerate() {
        for word in WORDS.iter().filter(|word| lacks_owner(line, word)) {
            problems.push(Problem::error(
                &file.path,
                line_idx + 1,
                format!("`{word}` without an owner"),
                format!("write `{word}(name): what is missing`"),
            ));
        }
    }
    problems
}

/// Returns the part of each line that starts with the first mark.
fn after_mark(text: &str, mark: &str) -> String {
    let lines: Vec<&str> = text.lines().map(|line| line.find(mark).map_or("", |at| &line[at..])).collect();
    lines.join("\n")
}

/// Reports whether a note has no owner. A marker word in backticks is only mentioned and does not count as a
/// note.
fn lacks_owner(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = &line[at + word.len()..];
        let is_word = before.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != '`')
            && !after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        let has_owner = after
            .strip_prefix('(')
            .and_then(|rest| rest.split_once("):"))
            .is_some_and(|(owner, _)| !owner.trim().is_empty() && !owner.contains(' '));
        is_word && !has_owner
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        check(&Tree::of(&[(path, text)])).into_iter().map(|problem| problem.line).collect()
    }

    #[test]
    fn missing_owner_is_reported() {
        assert_eq!(lines("a.rs", "x\n// TODO: later\n"), [2]);
        assert_eq!(lines("a.rs", "/* FIXME */"), [1]);
        assert_eq!(lines("a.py", "x = 1  # TODO() later"), [1]);
    }

    #[test]
    fn owner_or_mention_passes() {
        assert!(
            lines("a.rs", "// TODO(anna): the other half\nlet x = \"TODO\";\n// the `TODO` rule").is_empty()
        );
        assert!(lines("a.md", "TODO").is_empty());
    }
}
