//! Loads real files, if they are available next to the workspace: every file that `PyYAML` reads must load
//! without errors.

use std::fs;
use std::path::{Path, PathBuf};

use stoker_yaml::{LoadLimits, load};

fn yaml_files(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
        if path.is_dir() {
            yaml_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml") {
            files.push(path);
        }
    }
}

#[test]
fn real_files_are_read_without_errors() {
    let mut files = Vec::new();
    yaml_files(&stoker_testenv::shared_folder(".").unwrap_or_default(), &mut files);
    let mut failures = Vec::new();
    for path in &files {
        let text = fs::read_to_string(path).expect("file is valid UTF-8");
        let loaded = load(&text, &LoadLimits::default());
        if loaded.has_errors() {
            failures.push(format!("{}: {:?}", path.display(), loaded.problems));
        }
    }
    assert!(failures.is_empty(), "{} of {} files: {failures:#?}", failures.len(), files.len());
}
