//! No test is ignored: an ignored test looks like coverage but never runs.

use super::problem::Problem;
use super::rust_source::{line_at, split};
use super::tree::Tree;

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in tree.files.iter().filter(|file| file.is_rust()) {
        let code = split(&file.text).code;
        for (at, _) in code.match_indices("#[ignore") {
            problems.push(Problem::error(
                &file.path,
                line_at(&code, at),
                "ignored test",
                "fix it, delete it, or control its size by an environment variable",
            ));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_test_is_reported() {
        let lines = |text: &str| -> Vec<usize> {
            check(&Tree::of(&[("a.rs", text)])).into_iter().map(|problem| problem.line).collect()
        };
        assert_eq!(lines("#[test]\n#[ignore]\nfn a() {}\n#[ignore = \"slow\"]\nfn b() {}"), [2, 4]);
        assert!(lines("// #[ignore]\nlet x = \"#[ignore]\";").is_empty());
    }
}
