//! The input of the rules: every text file of the repository and the packages of the workspace.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::failure::Outcome;
use crate::process::capture;
use crate::workspace::{Member, Metadata};

#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) files: Vec<File>,
    /// Paths of all files, text or not, and of the directories that contain them.
    pub(super) paths: std::collections::BTreeSet<String>,
    pub(super) members: Vec<Member>,
}

#[derive(Debug)]
pub(super) struct File {
    /// Relative to the root, with `/`.
    pub(super) path: String,
    pub(super) text: String,
}

impl File {
    pub(super) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    pub(super) fn has_extension(&self, extensions: &[&str]) -> bool {
        self.name().rsplit_once('.').is_some_and(|(_, extension)| extensions.contains(&extension))
    }

    pub(super) fn is_rust(&self) -> bool {
        self.has_extension(&["rs"])
    }

    /// Returns whether only tests compile the file: in `tests`, `benches` or `examples`, or named `tests.rs`.
    pub(super) fn is_test_only(&self) -> bool {
        let mut folders = self.path.split('/').rev().skip(1);
        folders.any(|folder| ["tests", "benches", "examples"].contains(&folder)) || self.name() == "tests.rs"
    }

    /// Returns whether the file is generated.
    pub(super) fn is_generated(&self) -> bool {
        self.name() == "Cargo.lock"
            || self.name() == "package-lock.json"
            || self.path.split('/').any(|folder| ["generated", "snapshots"].contains(&folder))
    }
}

impl Tree {
    pub(super) fn load(root: &Path) -> Outcome<Self> {
        let mut tree = Self { members: Metadata::load(root)?.members, ..Self::default() };
        let mut command = Command::new("git");
        command.current_dir(root).args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"]);
        for path in capture(&mut command)?.split_terminator('\0') {
            // Deleted files are listed until the deletion is staged; binary files have no rules.
            let Ok(bytes) = fs::read(root.join(path)) else { continue };
            tree.insert_path(path);
            if let Ok(text) = String::from_utf8(bytes) {
                tree.files.push(File { path: path.to_owned(), text });
            }
        }
        Ok(tree)
    }

    pub(super) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    fn insert_path(&mut self, path: &str) {
        self.paths.insert(path.to_owned());
        for (at, _) in path.match_indices('/') {
            self.paths.insert(path[..at].to_owned());
        }
    }

    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let mut tree = Self::default();
        for &(path, text) in files {
            tree.insert_path(path);
            tree.files.push(File { path: path.to_owned(), text: text.to_owned() });
        }
        tree
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_include_folders() {
        let tree = Tree::of(&[("docs/a/b.md", "")]);
        assert!(tree.paths.contains("docs/a"));
        assert!(tree.paths.contains("docs"));
    }

    #[test]
    fn test_files_are_recognised() {
        let is_test_only = |path: &str| File { path: path.into(), text: String::new() }.is_test_only();
        assert!(is_test_only("crates/yaql/tests/spec.rs"));
        assert!(is_test_only("crates/yaql/src/parser/tests.rs"));
        assert!(!is_test_only("crates/yaql/src/tests_of_type.rs"));
    }
}
