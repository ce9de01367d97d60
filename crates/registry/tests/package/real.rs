//! Checks of real plugins.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use stoker_diagnostics::Severity;
use stoker_model::Task;
use stoker_registry::package::{CheckResult, Package, PackageCheckOptions, PackageTree, check};
use stoker_registry::stages::{StagePlugin, order_tasks};
use stoker_testkit::real_data;

/// Returns all directories with metadata. The directories that `releases` refers to are not part of the data
/// set and are assumed to exist.
fn packages() -> Vec<(String, PackageTree)> {
    let Some(readme) = real_data("plugins/README.md") else { return Vec::new() };
    let root = readme.parent().unwrap().to_owned();
    let mut packages = Vec::new();
    for group in ["examples", "templates", "community"] {
        let mut folders: Vec<PathBuf> =
            std::fs::read_dir(root.join(group)).unwrap().map(|entry| entry.unwrap().path()).collect();
        folders.sort();
        for folder in folders.iter().filter(|folder| folder.join("metadata.yaml").is_file()) {
            let name = format!("{group}/{}", folder.file_name().unwrap().to_string_lossy());
            packages.push((name, tree(folder)));
        }
    }
    packages
}

fn tree(folder: &Path) -> PackageTree {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let texts: BTreeMap<String, String> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect();
    let named = texts["metadata.yaml"].lines().filter_map(|line| line.split_once("_path:"));
    let paths = named.map(|(_, path)| path.trim().trim_matches(['\'', '"']).to_owned()).collect();
    PackageTree { texts, paths }
}

fn messages(checked: &CheckResult, severity: Severity) -> Vec<String> {
    let problems = checked.problems.iter().filter(|problem| problem.severity == severity);
    problems.map(|problem| format!("{} [{}]", problem, problem.code)).collect()
}

#[test]
fn real_plugins_pass_except_one_with_a_duplicate_key() {
    let packages = packages();
    if packages.is_empty() {
        return;
    }
    assert_eq!(packages.len(), 32);
    let mut n_failed = 0;
    for (name, tree) in &packages {
        let checked = check(tree, PackageCheckOptions::default());
        let errors = messages(&checked, Severity::Error);
        for warning in messages(&checked, Severity::Warning) {
            println!("{name}: {warning}");
        }
        if name == "community/opendaylight-1.0.0" {
            let [problem] =
                &checked.problems.iter().filter(|p| p.severity == Severity::Error).collect::<Vec<_>>()[..]
            else {
                panic!("{errors:#?}")
            };
            assert_eq!(
                (problem.location.file.as_deref().unwrap(), &*problem.code),
                ("deployment_tasks.yaml", "yaml-syntax")
            );
            assert!(problem.message.contains("`requires` is given twice"), "{problem}");
            assert!(problem.location.line().is_some_and(|line| (17..40).contains(&line)), "{problem}");
            assert!(checked.package.is_none());
            n_failed += 1;
            let lax = check(tree, PackageCheckOptions { strict_keys: false });
            assert!(lax.package.is_some(), "{:#?}", lax.problems);
            continue;
        }
        assert_eq!(errors, Vec::<String>::new(), "{name}");
        assert!(checked.package.is_some(), "{name}");
    }
    assert_eq!(n_failed, 1);
}

#[test]
fn package_is_converted_to_a_plugin() {
    let packages: BTreeMap<String, PackageTree> = packages().into_iter().collect();
    let Some(contrail) = packages.get("community/contrail-5.1.0") else { return };
    let package = check(contrail, PackageCheckOptions::default()).package.unwrap();
    assert_eq!((&*package.plugin.name, &*package.plugin.version), ("contrail", "5.1.0"));
    assert_eq!(package.plugin.package_version, "4.0.0");
    assert!(package.plugin.roles_metadata.contains_key("contrail-controller"));
    assert_eq!(package.plugin.components_metadata[0]["name"], "network:neutron:contrail");
    assert!(!package.plugin.attributes_metadata.is_empty());
    assert_eq!(package.graphs.len(), 1);
    assert!(package.graphs[0].1.len() > 20, "{}", package.graphs[0].1.len());
    let old =
        check(&packages["community/lma_collector-0.8.0"], PackageCheckOptions::default()).package.unwrap();
    assert!(old.graphs.is_empty());
    assert!(old.plugin.tasks.len() > 5);
    let newest = check(&packages["templates/v5"], PackageCheckOptions::default()).package.unwrap();
    assert!(newest.plugin.extra.contains_key("nic_attributes_metadata"), "{:?}", newest.plugin.extra.keys());
    assert!(newest.plugin.extra.contains_key("network_roles_metadata"));
}

#[test]
fn all_stages_can_be_ordered() {
    let packages: Vec<Package> = packages()
        .iter()
        .filter_map(|(_, tree)| check(tree, PackageCheckOptions { strict_keys: false }).package)
        .collect();
    if packages.is_empty() {
        return;
    }
    let mut n_stages = 0;
    for package in &packages {
        let plugin = &package.plugin;
        let of_graph = package.graphs.iter().flat_map(|(_, tasks)| tasks);
        let graph_tasks: Vec<&Task> = of_graph.filter(|task| task.field("stage").is_some()).collect();
        let plugin = StagePlugin {
            name: &plugin.name,
            version: &plugin.version,
            package_version: &plugin.package_version,
            tasks: &plugin.tasks,
            graph_tasks: &graph_tasks,
        };
        n_stages += order_tasks(&[plugin]).unwrap().len();
    }
    assert_eq!(n_stages, 97);
}

#[test]
fn files_of_the_ui_tests_are_valid() {
    let Some(readme) = real_data("plugins/README.md") else { return };
    let mut n_files = 0;
    for (folder, kinds) in [
        ("ui-component-tests", &[("", "components.yaml")][..]),
        (
            "ui-nic-tests",
            &[("nic_", "nic_config.yaml"), ("bond_", "bond_config.yaml"), ("node_", "node_config.yaml")],
        ),
    ] {
        for entry in std::fs::read_dir(readme.parent().unwrap().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let Some((_, file)) = kinds.iter().find(|(prefix, _)| name.starts_with(prefix)) else { continue };
            let mut tree = super::base(5);
            tree.texts.insert((*file).to_owned(), std::fs::read_to_string(&path).unwrap());
            let errors = messages(&check(&tree, PackageCheckOptions::default()), Severity::Error);
            assert_eq!(errors, Vec::<String>::new(), "{name}");
            n_files += 1;
        }
    }
    assert_eq!(n_files, 22 + 9);
}
