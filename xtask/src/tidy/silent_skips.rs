//! Tests do not skip silently: the shared data and missing tools are looked up through `crates/testenv`, which records every
//! test that returns early.

use super::problem::Problem;
use super::tree::{File, Tree};

/// Text in a test file that gives a private lookup away. Split in two, so that this file passes its own rule.
const MARKS: &[(&str, &str, &str)] = &[
    ("shared", "/data", "use `stoker_testenv::shared_data`"),
    ("eprintln!(\"", "skip", "use `stoker_testenv::Tool::find` or `stoker_testenv::skip!`"),
];

/// Files with a private lookup, with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[
    // sorted
    ("crates/server/tests/api/plugins.rs", "temporary: `server` is being split up"),
    ("crates/server/tests/api/releases.rs", "temporary: `server` is being split up"),
    // end sorted
];

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    check_with(tree, EXCEPTIONS)
}

fn check_with(tree: &Tree, exceptions: &[(&str, &str)]) -> Vec<Problem> {
    let is_exempt = |file: &&File| exceptions.iter().any(|(path, _)| *path == file.path);
    let tests = tree.files.iter().filter(|file| file.is_rust() && file.path.starts_with("crates/"));
    tests.filter(|file| file.is_test_only() && !is_exempt(file)).flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (line_idx, line) in file.text.lines().enumerate() {
        if line.trim_start().starts_with("//") {
            continue;
        }
        for (first, second, help) in MARKS {
            if line.contains(&format!("{first}{second}")) {
                let message = "a test that returns early here is not reported as skipped";
                problems.push(Problem::error(&file.path, line_idx + 1, message, *help));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str, exceptions: &[(&str, &str)]) -> Vec<usize> {
        check_with(&Tree::of(&[(path, text)]), exceptions).into_iter().map(|problem| problem.line).collect()
    }

    #[test]
    fn private_lookups_in_tests_are_reported() {
        let text = "// in ../shared/data\nlet a = root.join(\"../shared/data/x\");\neprintln!(\"skipped: no puppet\");\n";
        assert_eq!(lines("crates/a/tests/real.rs", text, &[]), [2, 3]);
        assert_eq!(lines("crates/a/tests/real.rs", text, &[("crates/a/tests/real.rs", "why")]), [0; 0]);
        assert_eq!(lines("crates/a/src/real.rs", text, &[]), [0; 0]);
    }
}
