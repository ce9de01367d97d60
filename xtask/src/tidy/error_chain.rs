//! Errors keep their causes when they become text, in a log or in a message: most errors display only their own failure ("the
//! database is unavailable"), and an operator needs the cause. `ErrorChain` displays both.

use super::layers::{Layer, layer_of};
use super::problem::Problem;
use super::purity::contains_path;
use super::rust_source::code_without_tests;
use super::tree::{File, Tree};

/// A field that displays an error without its causes.
const BARE: &str = "%error";
/// A field named `error` that displays a value must display [`CHAIN`].
const FIELD: &str = "error = %";
const CHAIN: &str = "ErrorChain(";
/// The text of an error without its causes.
const TEXT: &str = "error.to_string()";

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    tree.files.iter().filter(|file| does_log(file)).flat_map(check_file).collect()
}

/// Returns whether the file belongs to the shipped sources of a crate that may do I/O.
fn does_log(file: &File) -> bool {
    let mut parts = file.path.split('/');
    let (Some("crates"), Some(short), Some("src")) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let is_shipped = !matches!(layer_of(short), None | Some(Layer::Pure | Layer::Dev));
    is_shipped && file.is_rust() && !file.is_test_only()
}

fn check_file(file: &File) -> Vec<Problem> {
    let code = code_without_tests(&file.text);
    let problem = |line: &str| {
        if is_bare(line) {
            let help = "write `error = %ErrorChain(&error)` (`stoker_model::ErrorChain`)";
            return Some(("an error is logged without its causes", help));
        }
        let help = "write `ErrorChain(&error).to_string()` (`stoker_model::ErrorChain`)";
        contains_path(line, TEXT).then_some(("an error becomes text without its causes", help))
    };
    let problems = code.lines().enumerate().filter_map(|(idx, line)| Some((idx, problem(line)?)));
    problems.map(|(idx, (message, help))| Problem::error(&file.path, idx + 1, message, help)).collect()
}

fn is_bare(line: &str) -> bool {
    let is_other = |(at, _): (usize, &str)| !line[at + FIELD.len()..].starts_with(CHAIN);
    contains_path(line, BARE) || line.match_indices(FIELD).any(is_other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        check(&Tree::of(&[(path, text)])).into_iter().map(|problem| problem.line).collect()
    }

    #[test]
    fn errors_without_causes_are_reported() {
        let text = "warn!(error = %error, \"a\");\nwarn!(%error, \"b\");\nwarn!(why = %error);\nwarn!(error = %cause);\n\
                    warn!(error = %error.cause());\n";
        assert_eq!(lines("crates/orchestrator/src/a.rs", text), [1, 2, 3, 4, 5]);
        assert_eq!(lines("crates/store/src/a.rs", text), [1, 2, 3, 4, 5]);
        assert_eq!(lines("crates/bench/src/a.rs", text), [0; 0]);
        assert_eq!(lines("crates/server/tests/a.rs", text), [0; 0]);
    }

    #[test]
    fn texts_without_causes_are_reported() {
        let text = "fail(error.to_string());\nfail(ErrorChain(&error).to_string());\nfail(my_error.to_string());\n\
                    fn a() -> String { error.to_string() }\n// error.to_string()\n";
        assert_eq!(lines("crates/cli/src/a.rs", text), [1, 4]);
        assert_eq!(lines("crates/yaql/src/a.rs", text), [0; 0]);
    }

    #[test]
    fn chains_texts_and_other_fields_pass() {
        let text = "warn!(error = %ErrorChain(&error), \"a\");\nwarn!(error, \"%error\");\nwarn!(peer = %peer);\n\
                    // %error\nwarn!(%error_code);\n#[cfg(test)]\nmod tests { fn a() { warn!(%error); } }\n";
        assert_eq!(lines("crates/server/src/a.rs", text), [0; 0]);
    }
}
