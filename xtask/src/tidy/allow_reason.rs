//! Every exception from a lint has a reason.

use super::problem::Problem;
use super::rust_source::{line_at, split};
use super::tree::Tree;

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in tree.files.iter().filter(|file| file.is_rust()) {
        let code = split(&file.text).code;
        for (at, _) in code.match_indices('#') {
            if let Some(word) = exception_without_reason(&code[at..]) {
                problems.push(Problem::error(
                    &file.path,
                    line_at(&code, at),
                    format!("`{word}` without a reason"),
                    "write `#[expect(lint, reason = \"…\")]`, or fix the code",
                ));
            }
        }
    }
    problems
}

/// Checks one attribute. String literals are blanked, so the reason itself is not visible, but the word is.
fn exception_without_reason(code: &str) -> Option<&'static str> {
    let code = code.strip_prefix('#')?;
    let code = code.strip_prefix('!').unwrap_or(code).strip_prefix('[')?.trim_start();
    let word = ["allow", "expect"]
        .into_iter()
        .find(|word| code.strip_prefix(word).is_some_and(|rest| rest.trim_start().starts_with('(')))?;
    let attribute = &code[..code.find(']').unwrap_or(code.len())];
    let has_reason =
        attribute.split_once("reason").is_some_and(|(_, rest)| rest.trim_start().starts_with('='));
    (!has_reason).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        check(&Tree::of(&[("a.rs", text)])).into_iter().map(|problem| problem.line).collect()
    }

    #[test]
    fn missing_reasons_are_reported() {
        assert_eq!(lines("#![allow(dead_code)]\n\n#[expect(clippy::unwrap_used)]\nfn a() {}"), [1, 3]);
    }

    #[test]
    fn reasons_and_other_attributes_pass() {
        assert!(
            lines("#[expect(\n    dead_code,\n    reason = \"used by the macro\"\n)]\nfn a() {}").is_empty()
        );
        assert!(lines("#[derive(Debug)]\nstruct A;\nfn b() { allow(1); }").is_empty());
    }
}
