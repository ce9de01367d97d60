//! Every rule of packages, with a plugin that violates it.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

mod metadata;
mod others;
mod real;
mod skeletons;
mod tasks;

use std::collections::BTreeMap;

use proptest::prelude::*;
use stoker_diagnostics::Severity;
use stoker_registry::package::{PackageCheckOptions, PackageTree, check};

const GRAPH: &str = "deployment_tasks.yaml";
const STAGE: &str = "tasks.yaml";
const SETTINGS: &str = "environment_config.yaml";

fn metadata(version: u32) -> String {
    let product = ["6.0", "6.1", "7.0", "8.0", "9.0"][version as usize - 1];
    let mut text = format!(
        "name: demo\ntitle: Demo\ndescription: A demo\nversion: 1.0.0\npackage_version: {version}.0.0\n\
         fuel_version: ['{product}']\nreleases:\n- {{os: ubuntu, version: mitaka-{product}, mode: [ha], \
         deployment_scripts_path: scripts/, repository_path: repositories/ubuntu}}\n"
    );
    if version >= 2 {
        text.push_str("licenses: [Apache]\nauthors: [Us]\nhomepage: http://demo\ngroups: [network]\n");
    }
    if version >= 4 {
        text.push_str("is_hotpluggable: true\n");
    }
    text
}

fn base(version: u32) -> PackageTree {
    let mut texts = BTreeMap::from([
        ("metadata.yaml".to_owned(), metadata(version)),
        (SETTINGS.to_owned(), String::new()),
    ]);
    if version < 3 {
        let task = "- {role: '*', stage: pre_deployment, type: shell, parameters: {cmd: x, timeout: 1}}\n";
        texts.insert(STAGE.to_owned(), task.to_owned());
    } else {
        texts.insert(GRAPH.to_owned(), "- {id: a, type: puppet, role: [x]}\n".to_owned());
    }
    PackageTree { texts, paths: ["scripts/run.sh", "repositories/ubuntu"].map(str::to_owned).into() }
}

/// Diagnostics as `code path`; warnings are prefixed with `?`.
fn problems(tree: &PackageTree) -> Vec<String> {
    let checked = check(tree, PackageCheckOptions::default());
    let is_valid = checked.problems.iter().all(|problem| problem.severity != Severity::Error);
    assert_eq!(checked.package.is_some(), is_valid);
    let mark = |severity| if severity == Severity::Warning { "?" } else { "" };
    let reported = checked.problems.iter();
    reported
        .map(|problem| format!("{}{} {}", mark(problem.severity), problem.code, problem.location.path))
        .collect()
}

fn with(version: u32, file: &str, text: &str) -> Vec<String> {
    let mut tree = base(version);
    tree.texts.insert(file.to_owned(), text.to_owned());
    problems(&tree)
}

/// Checks the metadata with one key replaced or removed.
fn with_line(version: u32, key: &str, line: &str) -> Vec<String> {
    let text = metadata(version);
    let mut lines: Vec<&str> = Vec::new();
    let mut is_in_key = false;
    for old in text.lines() {
        is_in_key = old.starts_with(&format!("{key}:")) || (is_in_key && old.starts_with("- "));
        if !is_in_key {
            lines.push(old);
        }
    }
    lines.push(line);
    with(version, "metadata.yaml", &lines.join("\n"))
}

fn cases(version: u32, file: &str, cases: &[(&str, &[&str])]) {
    for (text, expected) in cases {
        assert_eq!(with(version, file, text), *expected, "version {version}, {file}: {text}");
    }
}

#[test]
fn valid_packages_of_all_versions_pass() {
    for version in 1..=5 {
        assert_eq!(problems(&base(version)), Vec::<String>::new(), "{version}");
    }
}

#[test]
fn missing_and_empty_files_are_reported() {
    for (version, file, expected) in [
        (1, "metadata.yaml", vec!["file-missing "]),
        (1, SETTINGS, vec!["file-missing "]),
        (2, STAGE, vec!["file-missing "]),
        (3, GRAPH, vec!["file-missing "]),
        (3, STAGE, vec![]),
    ] {
        let mut tree = base(version);
        tree.texts.remove(file);
        assert_eq!(problems(&tree), expected, "{version} {file}");
    }
    for (version, file, expected) in [
        (1, "metadata.yaml", vec!["file-empty "]),
        (2, STAGE, vec!["file-empty "]),
        (3, STAGE, vec!["file-empty "]),
        (4, STAGE, vec![]),
        (5, GRAPH, vec!["file-empty "]),
        (5, "components.yaml", vec!["file-empty "]),
        (5, "nic_config.yaml", vec!["file-empty "]),
        (3, "components.yaml", vec![]),
        (1, SETTINGS, vec![]),
    ] {
        for text in ["", "# nothing\n", "---\n", "~"] {
            assert_eq!(with(version, file, text), expected, "{version} {file} {text:?}");
        }
    }
    assert_eq!(with(4, GRAPH, "- {id: a, type: shell"), ["yaml-syntax "]);
    assert_eq!(with(4, GRAPH, "- {id: a, type: puppet, role: x, role: y}"), ["yaml-syntax "]);
    assert_eq!(with(4, SETTINGS, "a: 1\n---\nb: 2\n"), ["yaml-syntax "]);
}

#[test]
fn all_files_are_checked_with_positions() {
    let mut tree = base(4);
    tree.texts.insert(
        SETTINGS.to_owned(),
        "attributes:\n  a:\n    type: text\n    restrictions:\n    - 'settings:a = 5'\n".to_owned(),
    );
    tree.texts.insert("components.yaml".to_owned(), "- name: x\n".to_owned());
    let messages: Vec<String> =
        check(&tree, PackageCheckOptions::default()).problems.iter().map(ToString::to_string).collect();
    assert_eq!(messages.len(), 6, "{messages:#?}");
    assert!(messages[0].starts_with("components.yaml:1:3: [0].label: `label` is missing"), "{messages:#?}");
    let expected = "environment_config.yaml:5:19: attributes.a.restrictions[0]: invalid condition: unexpected character `=` (write `==`)";
    assert_eq!(messages[5], expected);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_files_do_not_panic(
        version in 1u32..=5,
        file in prop::sample::select(vec![
            "metadata.yaml", SETTINGS, STAGE, GRAPH, "node_roles.yaml", "volumes.yaml", "network_roles.yaml",
            "components.yaml", "nic_config.yaml", "node_config.yaml", "wizard_metadata.yaml",
        ]),
        text in prop_oneof![
            any::<String>(),
            "[-a-z:{}\\[\\], '\n*&]{0,60}",
            "(name|id|type|stage|role|requires|attributes|volumes): ?(a|5|~|\\[a, 5\\]|\\{a: 5\\}|\\{yaql_exp: x\\})",
            "- \\{?(name|id|type|stage|role|requires|values): ?(a|5|~|\\[a, 5\\]|\\{a: 5\\})\\}?",
        ],
    ) {
        with(version, file, &text);
    }
}
