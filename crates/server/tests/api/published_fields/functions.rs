//! The tests of the workspace.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::root;

/// A test.
pub(crate) struct TestFunction {
    /// Text of the function.
    pub(super) text: String,
    /// Text of its file.
    pub(super) file: String,
}

/// Returns the tests of the workspace by name, and by `file::name` to tell tests of one name apart.
pub(crate) fn test_functions() -> BTreeMap<String, Vec<TestFunction>> {
    let mut functions: BTreeMap<String, Vec<TestFunction>> = BTreeMap::new();
    let mut folders = vec![root().join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let file = fs::read_to_string(&path).unwrap();
                let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
                for (name, text) in tests_in(&file) {
                    for key in [name.clone(), format!("{stem}::{name}")] {
                        let function = TestFunction { text: text.clone(), file: file.clone() };
                        functions.entry(key).or_default().push(function);
                    }
                }
            }
        }
    }
    functions
}

fn tests_in(file: &str) -> Vec<(String, String)> {
    // The macro generates a test for each database engine.
    let generated: BTreeSet<&str> = file
        .split("on_both!")
        .skip(1)
        .flat_map(|list| {
            list.split([';', '}']).next().unwrap_or_default().split([' ', ',', '\n', '(', ')', '{'])
        })
        .collect();
    let mut tests = Vec::new();
    for (at, _) in file.match_indices("fn ") {
        let rest = &file[at + 3..];
        let name = rest.split(['(', '<']).next().unwrap_or_default();
        let attributes = file[..at].rsplit("\n\n").next().unwrap_or_default();
        let is_test = ["#[test]", "#[tokio::test"].iter().any(|attribute| attributes.contains(attribute));
        if is_test || generated.contains(name) {
            tests.push((name.to_owned(), rest.split("\n}\n").next().unwrap_or_default().to_owned()));
        }
    }
    tests
}
