//! Tests do not skip silently: the shared data and missing tools are looked up through `crates/testenv`, which records every
//! test that returns early.

use super::problem::Problem;
use super::tree::{File, Tree};

/// Two texts that indicate a private lookup if a line of a test file has both, in this order.
const MARKS: &[(&str, &str, &str)] = &[
    ("shared", "/data", "use `stoker_testenv::shared_data`"),
    ("println!(", "skip", "use `stoker_testenv::Tool::find` or `stoker_testenv::skip!`"),
];

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let tests = tree.files.iter().filter(|file| file.is_rust() && file.path.starts_with("crates/"));
    tests.filter(|file| file.is_test_only()).flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (line_idx, line) in file.text.lines().enumerate() {
        if line.trim_start().starts_with("//") {
            continue;
        }
        for (first, second, help) in MARKS {
            if line.split_once(first).is_some_and(|(_, rest)| rest.contains(second)) {
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

    fn lines(path: &str, text: &str) -> Vec<usize> {
        check(&Tree::of(&[(path, text)])).into_iter().map(|problem| problem.line).collect()
    }

    #[test]
    fn private_lookups_in_tests_are_reported() {
        let text = "// in ../shared/data\nlet a = root.join(\"../shared/data/x\");\neprintln!(\"skipped: no puppet\");\n\
                    println!(\"no python: skipping the comparison\");\nprintln!(\"{n}\");\n";
        assert_eq!(lines("crates/a/tests/real.rs", text), [2, 3, 4]);
        assert_eq!(lines("crates/a/src/real.rs", text), [0; 0]);
    }
}
