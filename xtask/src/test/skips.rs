//! The report of tests that returned early because a precondition was missing.
//!
//! `crates/testenv` appends one line `binary<TAB>test<TAB>reason` per skipped test to the file in the
//! variable [`VARIABLE`].

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::{Context as _, Outcome};
use crate::terminal::{Style, paint};

pub(super) const VARIABLE: &str = "STOKER_TEST_SKIPS";
/// Maximum number of tests listed per reason; the file contains all of them.
const LISTED_MAX: usize = 5;

pub(super) struct Skips {
    path: PathBuf,
}

impl Skips {
    /// Starts a new report; that of an earlier run is deleted.
    pub(super) fn create(target_dir: &Path) -> Outcome<Self> {
        let path = target_dir.join("test-skips.tsv");
        fs::create_dir_all(target_dir).context(format!("cannot create `{}`", target_dir.display()))?;
        fs::write(&path, "").context(format!("cannot write `{}`", path.display()))?;
        Ok(Self { path })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the skipped tests by reason, the most frequent reason first. Empty if no test was skipped.
    pub(super) fn summary(&self) -> String {
        summarize(&fs::read_to_string(&self.path).unwrap_or_default(), &self.path)
    }
}

fn summarize(text: &str, path: &Path) -> String {
    let mut reasons: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for line in text.lines() {
        let mut fields = line.splitn(3, '\t');
        let (Some(binary), Some(test), Some(reason)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        reasons.entry(reason).or_default().insert(format!("{binary} {test}"));
    }
    let tests: BTreeSet<&String> = reasons.values().flatten().collect();
    if tests.is_empty() {
        return String::new();
    }
    let mut summary =
        paint(Style::Notice, &format!("{} tests were skipped ({}):\n", tests.len(), path.display()));
    let mut groups: Vec<_> = reasons.iter().collect();
    groups.sort_by_key(|(_, tests)| std::cmp::Reverse(tests.len()));
    for (reason, tests) in groups {
        _ = writeln!(summary, "{:>5}  {reason}", tests.len());
        for test in tests.iter().take(LISTED_MAX) {
            _ = writeln!(summary, "         {test}");
        }
        if tests.len() > LISTED_MAX {
            _ = writeln!(summary, "         and {} more", tests.len() - LISTED_MAX);
        }
    }
    summary
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_grouped_by_reason_and_counted_once() {
        let mut text = "a\tone\tno data\n".to_owned();
        for n in 0..7 {
            _ = writeln!(text, "b\ttest_{n}\tno puppet");
        }
        text.push_str("a\tone\tno data\nbroken line\n");
        let summary = summarize(&text, Path::new("skips"));
        let lines: Vec<&str> = summary.lines().collect();
        assert_eq!(lines[0], "8 tests were skipped (skips):");
        assert_eq!(lines[1], "    7  no puppet");
        assert_eq!(lines[7], "         and 2 more");
        assert_eq!(lines[8..], ["    1  no data", "         a one"]);
    }

    #[test]
    fn summary_without_skips_is_empty() {
        assert_eq!(summarize("", Path::new("skips")), "");
    }
}
