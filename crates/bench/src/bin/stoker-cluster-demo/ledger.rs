//! Ground truth of executed tasks: each task instance appends a line.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::Outcome;

pub(crate) struct Ledger {
    path: PathBuf,
}

impl Ledger {
    pub(crate) fn new(folder: &Path) -> Self {
        Self { path: folder.join("done") }
    }

    /// Returns a shell command that appends the line of a task: one short write in append mode, which is
    /// atomic.
    pub(crate) fn command(&self, line: &str) -> String {
        format!("echo {line} >> {}", self.path.display())
    }

    pub(crate) fn n_lines(&self) -> Outcome<usize> {
        Ok(self.read()?.lines().count())
    }

    /// Checks that every expected line occurs exactly once, and no other line.
    pub(crate) fn check(&self, expected: &[String]) -> Outcome {
        let text = self.read()?;
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for line in text.lines() {
            *counts.entry(line).or_default() += 1;
        }
        let wrong = |line: &&String| counts.get(line.as_str()) != Some(&1);
        if let Some(line) = expected.iter().find(wrong) {
            let n_times = counts.get(line.as_str()).copied().unwrap_or(0);
            return Err(format!("`{line}` was executed {n_times} times"));
        }
        if counts.len() == expected.len() {
            Ok(())
        } else {
            Err("an unexpected task was executed".to_owned())
        }
    }

    fn read(&self) -> Outcome<String> {
        match fs::read_to_string(&self.path) {
            Ok(text) => Ok(text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
            Err(error) => Err(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_duplicate_and_unexpected_lines_are_detected() {
        let expected = ["a@1".to_owned(), "b@1".to_owned()];
        let cases = [
            ("a@1\nb@1\n", true),
            ("a@1\n", false),
            ("a@1\na@1\nb@1\n", false),
            ("a@1\nb@1\nc@1\n", false),
            ("", false),
        ];
        for (text, is_valid) in cases {
            let folder = tempfile::tempdir().expect("a directory");
            let ledger = Ledger::new(folder.path());
            fs::write(&ledger.path, text).expect("written");
            assert_eq!(ledger.check(&expected).is_ok(), is_valid, "{text:?}");
        }
    }
}
