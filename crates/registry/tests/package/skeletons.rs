//! Skeletons of new plugins are valid without changes.

use stoker_registry::package::{
    InvalidPluginName, PackageCheckOptions, PackageTree, PackageVersion, SkeletonOptions, check, skeleton,
};

fn tree(version: PackageVersion, name: &str) -> PackageTree {
    let mut tree = PackageTree::default();
    for file in skeleton(SkeletonOptions { name, version, has_wizard: true }).unwrap() {
        assert!(!file.text.contains("{name}") && !file.text.contains("{ranges}"), "{}", file.path);
        if file.path.contains('/') {
            tree.paths.insert(file.path);
        } else {
            tree.texts.insert(file.path, file.text);
        }
    }
    tree
}

#[test]
fn skeletons_of_all_versions_pass_without_warnings() {
    for version in PackageVersion::ALL {
        for name in ["demo", "my-plugin_2"] {
            let checked = check(&tree(*version, name), PackageCheckOptions::default());
            let messages: Vec<String> = checked.problems.iter().map(ToString::to_string).collect();
            assert_eq!(messages, Vec::<String>::new(), "{version:?}");
            let package = checked.package.unwrap();
            assert_eq!((&*package.plugin.name, &*package.plugin.package_version), (name, version.as_str()));
            assert_eq!(package.graphs.len(), usize::from(*version >= PackageVersion::V3));
            assert!(package.plugin.extra.contains_key("wizard_metadata"));
        }
    }
}

#[test]
fn wizard_component_is_provided() {
    for version in PackageVersion::ALL {
        let plugin = check(&tree(*version, "demo"), PackageCheckOptions::default()).package.unwrap().plugin;
        let wizard = &plugin.extra["wizard_metadata"]["AdditionalServices"]["demo"];
        let offered = wizard.get("component").into_iter().collect::<Vec<_>>();
        let provided: Vec<_> =
            plugin.components_metadata.iter().map(|component| &component["name"]).collect();
        assert_eq!(offered, provided, "{version:?}");
    }
}

/// The stub of `provides` is valid once its comment marks are removed.
#[test]
fn provides_stub_can_be_used() {
    for version in PackageVersion::ALL {
        let mut tree = tree(*version, "demo");
        let metadata = tree.texts.get_mut("metadata.yaml").unwrap();
        let (head, stub) = metadata.split_once("# provides:").unwrap();
        let lines: Vec<&str> = stub.lines().map(|line| line.strip_prefix("# ").unwrap_or(line)).collect();
        *metadata = format!("{head}provides:{}\n", lines.join("\n"));
        let checked = check(&tree, PackageCheckOptions::default());
        let messages: Vec<String> = checked.problems.iter().map(ToString::to_string).collect();
        assert_eq!(messages, Vec::<String>::new(), "{version:?}");
        let provides = &checked.package.unwrap().plugin.extra["provides"][0];
        assert_eq!(
            (&provides["name"], provides["compatible_hypervisors"][0].as_str()),
            (&"networking:core:demo".into(), Some("core"))
        );
    }
}

#[test]
fn ranges_are_explained_if_numbers_are_supported() {
    let explained = |version: PackageVersion| {
        tree(version, "demo").texts.values().any(|text| text.contains("2000 - 2999  disks"))
    };
    assert!(!explained(PackageVersion::V1));
    assert!(PackageVersion::ALL[1..].iter().all(|version| explained(*version)));
}

#[test]
fn names_are_checked() {
    for name in ["", "Demo", "a b", "../x", "a/b", "demo\n"] {
        let options = SkeletonOptions { name, version: PackageVersion::V5, has_wizard: false };
        assert_eq!(skeleton(options), Err(InvalidPluginName), "{name}");
    }
}
