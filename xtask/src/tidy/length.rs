//! Source files have at most 600 lines.

use super::problem::Problem;
use super::tree::{File, Tree};

const WARN_OVER: usize = 400;
const ERROR_OVER: usize = 600;

/// Exempt files, with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[];

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    check_with(tree, EXCEPTIONS)
}

fn check_with(tree: &Tree, exceptions: &[(&str, &str)]) -> Vec<Problem> {
    let code = |file: &&File| {
        file.has_extension(&["rs", "py", "ts", "tsx", "css", "sh", "sql"]) && !file.is_generated()
    };
    let mut problems: Vec<Problem> =
        tree.files.iter().filter(code).filter_map(|file| check_file(file, exceptions)).collect();
    for (path, _) in exceptions {
        if tree.file(path).is_none_or(|file| file.text.lines().count() <= ERROR_OVER) {
            problems.push(Problem::error(
                *path,
                0,
                "the file needs no exception from the length rule",
                "remove it from the list in `xtask/src/tidy/length.rs`",
            ));
        }
    }
    problems
}

fn check_file(file: &File, exceptions: &[(&str, &str)]) -> Option<Problem> {
    let n_lines = file.text.lines().count();
    if n_lines > ERROR_OVER && !exceptions.iter().any(|(path, _)| *path == file.path) {
        return Some(Problem::error(
            &file.path,
            n_lines,
            format!("{n_lines} lines, limit {ERROR_OVER}"),
            "split the file, or list it with a reason in `xtask/src/tidy/length.rs`",
        ));
    }
    (n_lines > WARN_OVER && n_lines <= ERROR_OVER).then(|| {
        Problem::warning(&file.path, n_lines, format!("{n_lines} lines"), "consider splitting the file")
    })
}

#[cfg(test)]
mod tests {
    use super::super::problem::Severity;
    use super::*;

    fn check_lines(path: &str, n_lines: usize, exceptions: &[(&str, &str)]) -> Vec<Severity> {
        let text = "x\n".repeat(n_lines);
        check_with(&Tree::of(&[(path, &text)]), exceptions)
            .into_iter()
            .map(|problem| problem.severity)
            .collect()
    }

    #[test]
    fn long_files_warn_and_very_long_files_fail() {
        assert_eq!(check_lines("a.rs", WARN_OVER, &[]), []);
        assert_eq!(check_lines("a.rs", WARN_OVER + 1, &[]), [Severity::Warning]);
        assert_eq!(check_lines("a.rs", ERROR_OVER + 1, &[]), [Severity::Error]);
        assert_eq!(check_lines("a.md", ERROR_OVER + 1, &[]), []);
    }

    #[test]
    fn unneeded_exception_is_reported() {
        assert_eq!(check_lines("a.rs", ERROR_OVER + 1, &[("a.rs", "one flat table")]), []);
        assert_eq!(check_lines("a.rs", 10, &[("a.rs", "one flat table")]), [Severity::Error]);
    }
}
