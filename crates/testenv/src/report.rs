//! Records skipped tests and reads the variables that select preconditions.

use std::env;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;

/// Variable with the name of the file to which skipped tests are appended: one line
/// `binary<TAB>test<TAB>reason` each.
pub const SKIPS: &str = "STOKER_TEST_SKIPS";
/// Variable that lists preconditions whose absence is a failure: `tools`, `data`.
pub const REQUIRE: &str = "STOKER_TEST_REQUIRE";
/// Variable that lists preconditions that are excluded on purpose, such as `postgres` or `puppet`.
pub const EXCLUDE: &str = "STOKER_TEST_SKIP";

/// Returns whether [`EXCLUDE`] lists `name`; if so, records the current test as skipped.
pub fn exclude(name: &str) -> bool {
    let is_excluded = lists(EXCLUDE, name);
    if is_excluded {
        record_skip(&format!("{name}: excluded by {EXCLUDE}"));
    }
    is_excluded
}

/// Records the current test as skipped for this reason. A test that calls this more than once is listed once per
/// reason.
#[expect(clippy::disallowed_methods, reason = "the test run is configured through its environment")]
pub fn record_skip(reason: &str) {
    let reason = reason.replace(['\t', '\n'], " ");
    let (binary, test) = (current_binary(), current_test());
    let line = format!("{binary}\t{test}\t{reason}\n");
    let Some(path) = env::var_os(SKIPS) else {
        eprintln!("skipped {binary} {test}: {reason}");
        return;
    };
    if let Err(error) = append(Path::new(&path), &line) {
        panic!("cannot record a skipped test in `{}`: {error}", path.display());
    }
}

/// Appends a line to a file. One `write` of a short line to a file opened for appending is atomic, so
/// parallel tests need no lock.
fn append(path: &Path, line: &str) -> io::Result<()> {
    OpenOptions::new().create(true).append(true).open(path)?.write_all(line.as_bytes())
}

/// Records the current test as skipped because a program is missing; fails it if [`REQUIRE`] lists `tools`. For programs
/// that are not in the table of [`Tool`](crate::Tool).
pub fn record_missing_tool(message: &str) {
    miss("tools", message);
}

/// Fails the test if [`REQUIRE`] lists `kind`, otherwise records it as skipped.
pub(crate) fn miss(kind: &str, message: &str) {
    assert!(!lists(REQUIRE, kind), "{message} ({REQUIRE} lists `{kind}`)");
    record_skip(message);
}

#[expect(clippy::disallowed_methods, reason = "the test run is configured through its environment")]
fn lists(variable: &str, name: &str) -> bool {
    is_listed(&env::var(variable).unwrap_or_default(), name)
}

fn is_listed(list: &str, name: &str) -> bool {
    list.split(',').any(|item| item.trim() == name)
}

#[expect(clippy::disallowed_methods, reason = "nextest passes the test's name in the environment")]
fn current_test() -> String {
    if let Ok(name) = env::var("NEXTEST_TEST_NAME") {
        return name;
    }
    std::thread::current().name().unwrap_or("unknown").to_owned()
}

#[expect(clippy::disallowed_methods, reason = "nextest passes the binary's name in the environment")]
fn current_binary() -> String {
    if let Ok(id) = env::var("NEXTEST_BINARY_ID") {
        return id;
    }
    let program = env::current_exe().ok();
    let name =
        program.as_deref().and_then(|path| path.file_stem()).map(|stem| stem.to_string_lossy().into_owned());
    name.unwrap_or_else(|| "unknown".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_lists_are_matched_whole() {
        assert!(is_listed("nats, postgres", "postgres"));
        assert!(!is_listed("postgres-15", "postgres"));
        assert!(!is_listed("", "postgres"));
    }

    #[test]
    fn skips_are_appended() {
        let path = env::temp_dir().join(format!("stoker-testenv-{}", std::process::id()));
        append(&path, "a\tb\tc\n").unwrap();
        append(&path, "d\te\tf\n").unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(text, "a\tb\tc\nd\te\tf\n");
    }

    #[test]
    fn current_test_has_a_name() {
        assert!(current_test().ends_with("current_test_has_a_name"), "{}", current_test());
    }
}
