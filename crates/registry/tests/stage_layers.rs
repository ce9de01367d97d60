//! Plugin stage tasks in the merged graph of a cluster.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

use serde_json::{Value as Json, json};
use stoker_diagnostics::Severity;
use stoker_graph::{GraphCheckOptions, Layer, MergeRules, Scope, Source, check, codes, merge};
use stoker_model::{GraphType, JsonMap, Micros, NewPlugin, PLUGIN_SCRIPTS_ROOT, Plugin, PluginId, Task};
use stoker_registry::stages::{PluginGraph, StageLayers, has_stages, stage_layers};

fn task(name: &str, fields: &Json) -> Task {
    Task { name: name.to_owned(), fields: fields.as_object().unwrap().clone() }
}

fn core() -> Vec<Task> {
    let stage = |name: &str, requires: &[&str]| task(name, &json!({"type": "stage", "requires": requires}));
    vec![
        stage("pre_deployment_end", &[]),
        stage("deploy_start", &["pre_deployment_end"]),
        stage("post_deployment_end", &["deploy_start"]),
    ]
}

fn plugin(name: &str, stages: &[Json]) -> Plugin {
    let tasks = stages
        .iter()
        .map(|stage| json!({"type": "shell", "role": "*", "stage": stage, "parameters": {"cmd": "x"}}))
        .collect();
    let body = NewPlugin {
        name: name.into(),
        title: name.into(),
        version: "1.0.0".into(),
        package_version: "2.0.0".into(),
        description: None,
        homepage: None,
        is_hotpluggable: false,
        fuel_version: Vec::new(),
        groups: Vec::new(),
        authors: Vec::new(),
        licenses: Vec::new(),
        releases: Vec::new(),
        attributes_metadata: JsonMap::new(),
        roles_metadata: JsonMap::new(),
        tags_metadata: JsonMap::new(),
        volumes_metadata: JsonMap::new(),
        components_metadata: Vec::new(),
        tasks,
        extra: JsonMap::new(),
    };
    Plugin { id: PluginId(1), generation: 1, body, created_at: Micros(0) }
}

fn layers_of(core: &[Task], plugins: &[(Plugin, Vec<Task>)]) -> StageLayers {
    let folders: Vec<String> =
        plugins.iter().map(|(plugin, _)| plugin.scripts_folder(PLUGIN_SCRIPTS_ROOT)).collect();
    let graphs: Vec<PluginGraph<'_>> = plugins
        .iter()
        .zip(&folders)
        .map(|((plugin, tasks), folder)| PluginGraph { plugin, tasks, scripts: Some(folder) })
        .collect();
    let merged = merge(&[Layer::of_tasks(Source::Release, core)], MergeRules::default());
    stage_layers(&merged, &graphs)
}

fn names(tasks: Option<&Vec<Task>>) -> Vec<&str> {
    tasks
        .into_iter()
        .flatten()
        .map(|task| task.name.as_str())
        .filter(|name| !name.ends_with("-done"))
        .collect()
}

#[test]
fn plugins_with_stage_tasks_get_replacement_layers() {
    let own = task("mine", &json!({"type": "shell", "stage": "pre_deployment/5", "requires": ["other"]}));
    let other = task("other", &json!({"type": "shell", "roles": "*"}));
    let plugins = [
        (plugin("b", &[json!("pre_deployment/10"), json!("post_deployment")]), vec![own, other]),
        (plugin("quiet", &[]), vec![task("q", &json!({"type": "shell"}))]),
        (plugin("a", &[json!("pre_deployment/7")]), Vec::new()),
    ];
    let layers = layers_of(&core(), &plugins);
    assert_eq!(layers.findings, []);
    assert_eq!(
        names(layers.tasks[0].as_ref()),
        ["other", "mine", "b-pre_deployment-10-1", "b-post_deployment-0-1"]
    );
    assert_eq!(layers.tasks[1], None, "a plugin without stage tasks is unchanged");
    let of_a = layers.tasks[2].as_ref().unwrap();
    assert_eq!(names(Some(of_a)), ["a-pre_deployment-7-1"]);
    assert_eq!(of_a[0].field("parameters").unwrap()["cwd"], "/etc/fuel/plugins/a-1.0.0/");
    // 5 of `b`, 7 of `a`, 10 of `b`, then the task that follows the end of the stage.
    assert_eq!(of_a[0].field("cross_depends"), Some(&json!([{"name": "mine-done", "role": null}])));
    let of_b = layers.tasks[0].as_ref().unwrap();
    let marker = of_b.iter().find(|task| task.name == "b-pre_deployment-10-1-done").unwrap();
    assert_eq!(marker.field("required_for"), Some(&json!(["deploy_start"])));
}

/// Regression test: plugin tasks ran before their files were copied, because they did not depend on the
/// stage.
#[test]
fn stage_tasks_run_after_their_stage_and_before_the_next() {
    let core = core();
    let plugins = [(plugin("p", &[json!("pre_deployment"), json!("pre_deployment/1")]), Vec::new())];
    let layers = layers_of(&core, &plugins);
    let tasks = layers.tasks[0].as_ref().unwrap();
    assert_eq!(tasks[0].field("cross_depends"), Some(&json!([{"name": "pre_deployment_end", "role": null}])));
    let source = Source::Plugin { name: "p".into(), version: "1.0.0".into() };
    let all = [Layer::of_tasks(Source::Release, &core), Layer::of_tasks(source, tasks)];
    let merged = merge(&all, MergeRules::default());
    assert_eq!(check(&merged, &GraphCheckOptions::new(Scope::Merged)), []);
}

#[test]
fn order_among_plugins_holds_without_stage_end() {
    let plugins = [(plugin("p", &[json!("pre_deployment/2"), json!("pre_deployment/1")]), Vec::new())];
    let layers = layers_of(&[], &plugins);
    let tasks = layers.tasks[0].as_ref().unwrap();
    assert_eq!(names(Some(tasks)), ["p-pre_deployment-1-1", "p-pre_deployment-2-1"]);
    assert_eq!(tasks[0].field("cross_depends"), None);
    assert_eq!(
        tasks[2].field("cross_depends"),
        Some(&json!([{"name": "p-pre_deployment-1-1-done", "role": null}]))
    );
}

#[test]
fn plugin_with_invalid_stage_is_omitted_and_reported() {
    let plugins = [
        (plugin("bad", &[json!("pre_deployment"), json!("deploy"), json!(7)]), Vec::new()),
        (plugin("good", &[json!("pre_deployment")]), Vec::new()),
    ];
    let layers = layers_of(&core(), &plugins);
    assert_eq!((&layers.tasks[0], names(layers.tasks[1].as_ref()).len()), (&None, 1));
    let messages: Vec<String> = layers.findings.iter().map(|finding| finding.message.clone()).collect();
    assert_eq!(
        messages,
        [
            "cannot order stage task 2 of plugin `bad`: its `stage` is neither `pre_deployment` nor \
             `post_deployment`",
            "cannot order stage task 3 of plugin `bad`: its `stage` is not text",
        ]
    );
    assert!(
        layers
            .findings
            .iter()
            .all(|finding| finding.code == codes::PLUGIN_STAGE && finding.severity == Severity::Error)
    );
}

#[test]
fn only_the_deployment_graph_has_stages() {
    assert!(has_stages(&GraphType::default()));
    assert!(!has_stages(&GraphType::new("provision").unwrap()));
}
