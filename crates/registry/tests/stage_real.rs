//! Stage tasks of real plugins in a real graph.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

use std::collections::BTreeMap;

use stoker_graph::{GraphCheckOptions, Layer, MergeRules, Scope, Source, check, merge};
use stoker_manifest::{Format, ParseOptions, graph};
use stoker_model::{NewPlugin, Task};
use stoker_registry::package::{self, PackageTree};
use stoker_registry::stages::{CoreTasks, StagePlugin, graph_tasks};
use stoker_testkit::real_data;

fn core() -> Option<Vec<Task>> {
    let text = std::fs::read_to_string(real_data("fuel-library/default-graph.yaml")?).unwrap();
    let options = ParseOptions { strict_keys: false, ..ParseOptions::default() };
    graph::read_with(&text, Format::Yaml, &options).value.unwrap().tasks
}

/// Returns one version of each community plugin.
fn plugins() -> Vec<NewPlugin> {
    let root = real_data("plugins/README.md").unwrap().parent().unwrap().join("community");
    let mut plugins: BTreeMap<String, NewPlugin> = BTreeMap::new();
    for folder in std::fs::read_dir(root).unwrap() {
        let files = std::fs::read_dir(folder.unwrap().path()).unwrap().map(|file| file.unwrap().path());
        let texts: BTreeMap<String, String> = files
            .map(|path| {
                (
                    path.file_name().unwrap().to_string_lossy().into_owned(),
                    std::fs::read_to_string(path).unwrap(),
                )
            })
            .collect();
        let named = texts["metadata.yaml"].lines().filter_map(|line| line.split_once("_path:"));
        let paths = named.map(|(_, path)| path.trim().trim_matches(['\'', '"']).to_owned()).collect();
        let options = package::PackageCheckOptions { strict_keys: false };
        let plugin = package::check(&PackageTree { texts, paths }, options).package.unwrap().plugin;
        if !plugin.tasks.is_empty() {
            plugins.insert(plugin.name.clone(), plugin);
        }
    }
    plugins.into_values().collect()
}

#[test]
fn real_stage_tasks_cause_no_findings() {
    let Some(core) = core() else { return };
    let plugins = plugins();
    let staged: Vec<StagePlugin<'_>> = plugins
        .iter()
        .map(|plugin| StagePlugin {
            name: &plugin.name,
            version: &plugin.version,
            package_version: &plugin.package_version,
            tasks: &plugin.tasks,
            graph_tasks: &[],
        })
        .collect();
    let anchors = CoreTasks::new(core.iter());
    assert_eq!(anchors.stages_without_end(), []);
    let added = graph_tasks(&staged, &anchors).unwrap();
    assert!(added.len() >= 8, "{}", added.len());
    let findings = |with_plugins: bool| {
        let mut layers = vec![Layer::of_tasks(Source::Release, &core)];
        for layer in added.iter().filter(|_| with_plugins) {
            let source = Source::Plugin { name: layer.plugin.to_owned(), version: layer.version.to_owned() };
            layers.push(Layer::of_tasks(source, &layer.tasks));
        }
        let merged = merge(&layers, MergeRules::default());
        let findings = check(&merged, &GraphCheckOptions::new(Scope::Merged));
        findings
            .iter()
            .map(|finding| {
                format!("{:?} {} {}", finding.location.task, finding.location.path, finding.message)
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(findings(true), findings(false));
}
