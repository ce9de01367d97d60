//! Order of execution in graphs built from stage tasks.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use stoker_model::Task;
use stoker_registry::stages::{CoreTasks, StagePlugin, graph_tasks, order_tasks};

fn tasks(stages: &[&str]) -> Vec<Json> {
    stages
        .iter()
        .map(|stage| json!({"type": "shell", "role": "*", "stage": stage, "parameters": {}}))
        .collect()
}

fn plugin<'a>(name: &'a str, tasks: &'a [Json]) -> StagePlugin<'a> {
    StagePlugin { name, version: "1.0.0", package_version: "2.0.0", tasks, graph_tasks: &[] }
}

fn core() -> Vec<Task> {
    let stage = |name: &str, requires: &[&str]| Task {
        name: name.to_owned(),
        fields: json!({"type": "stage", "requires": requires}).as_object().unwrap().clone(),
    };
    vec![
        stage("pre_deployment_start", &[]),
        stage("pre_deployment_end", &["pre_deployment_start"]),
        stage("deploy_start", &["pre_deployment_end"]),
        stage("deploy_end", &["deploy_start"]),
        stage("post_deployment_start", &["deploy_end"]),
        stage("post_deployment_end", &["post_deployment_start"]),
    ]
}

/// Plans minimally: returns the dependencies of each task instance.
fn waits(
    tasks: &[Task],
    nodes: &BTreeMap<&str, Vec<&str>>,
) -> BTreeMap<(String, String), BTreeSet<(String, String)>> {
    let resolve = |roles: &Json| -> Vec<String> {
        let selectors: Vec<&str> = match roles {
            Json::String(role) => vec![role],
            Json::Array(roles) => roles.iter().filter_map(Json::as_str).collect(),
            Json::Null => return vec!["sync".to_owned()],
            _ => return Vec::new(),
        };
        let is_selected = |node: &str, roles: &[&str]| {
            selectors.iter().any(|role| if *role == "*" { node != "master" } else { roles.contains(role) })
        };
        nodes
            .iter()
            .filter(|(node, roles)| is_selected(node, roles))
            .map(|(node, _)| (*node).to_owned())
            .collect()
    };
    let mut dependencies: BTreeMap<(String, String), BTreeSet<(String, String)>> = BTreeMap::new();
    for task in tasks {
        let is_stage = task.field("type") == Some(&json!("stage"));
        let roles = if is_stage { Json::Null } else { task.field("roles").cloned().unwrap_or_default() };
        for node in resolve(&roles) {
            dependencies.insert((task.name.clone(), node), BTreeSet::new());
        }
    }
    let instances: Vec<(String, String)> = dependencies.keys().cloned().collect();
    let exists = |name: &str, node: &str| instances.contains(&(name.to_owned(), node.to_owned()));
    for (name, node) in &instances {
        let task = tasks.iter().find(|task| task.name == *name).unwrap();
        let list = |key: &str| task.field(key).and_then(Json::as_array).cloned().unwrap_or_default();
        let mut link = |before: (String, String), after: (String, String)| {
            if before != after && exists(&before.0, &before.1) && exists(&after.0, &after.1) {
                dependencies.get_mut(&after).unwrap().insert(before);
            }
        };
        let me = || (name.clone(), node.clone());
        for other in list("requires").iter().filter_map(Json::as_str) {
            link((other.to_owned(), node.clone()), me());
            link((other.to_owned(), "sync".to_owned()), me());
        }
        for other in list("required_for").iter().filter_map(Json::as_str) {
            link(me(), (other.to_owned(), node.clone()));
            link(me(), (other.to_owned(), "sync".to_owned()));
        }
        for relation in list("cross_depends") {
            for node in resolve(&relation["role"]) {
                link((relation["name"].as_str().unwrap().to_owned(), node), me());
            }
        }
    }
    dependencies
}

type Dependencies = BTreeMap<(String, String), BTreeSet<(String, String)>>;

/// Returns the transitive dependencies of an instance.
fn ancestors_of(waits: &Dependencies, instance: &(String, String)) -> BTreeSet<(String, String)> {
    let (mut ancestors, mut pending) = (BTreeSet::new(), vec![instance.clone()]);
    while let Some(next) = pending.pop() {
        for before in &waits[&next] {
            if ancestors.insert(before.clone()) {
                pending.push(before.clone());
            }
        }
    }
    ancestors
}

fn graph_with(plugins: &[StagePlugin<'_>]) -> Vec<Task> {
    let core = core();
    let layers = graph_tasks(plugins, &CoreTasks::new(core.iter())).unwrap();
    core.into_iter().chain(layers.into_iter().flat_map(|layer| layer.tasks)).collect()
}

fn nodes() -> BTreeMap<&'static str, Vec<&'static str>> {
    BTreeMap::from([
        ("1", vec!["primary-controller"]),
        ("2", vec!["controller"]),
        ("3", vec!["compute"]),
        ("master", vec!["master"]),
    ])
}

fn with_roles(stage: &str, role: &Json) -> Json {
    json!({"type": "shell", "role": role, "stage": stage, "parameters": {"cmd": "true"}})
}

#[test]
fn task_without_nodes_does_not_break_the_order() {
    let declared = vec![
        with_roles("pre_deployment/1", &json!("*")),
        with_roles("pre_deployment/2", &json!(["ceph-osd"])),
        with_roles("pre_deployment/3", &json!([])),
        with_roles("pre_deployment/4", &json!("master")),
        with_roles("post_deployment/1", &json!(["cinder"])),
        with_roles("post_deployment/2", &json!(["controller"])),
    ];
    let waits = waits(&graph_with(&[plugin("p", &declared)]), &nodes());
    let at = |name: &str, node: &str| (name.to_owned(), node.to_owned());
    let fourth = ancestors_of(&waits, &at("p-pre_deployment-4-1", "master"));
    for node in ["1", "2", "3"] {
        assert!(fourth.contains(&at("p-pre_deployment-1-1", node)), "{fourth:?}");
    }
    assert!(fourth.contains(&at("pre_deployment_end", "sync")));
    let deploy = ancestors_of(&waits, &at("deploy_start", "sync"));
    assert!(deploy.contains(&at("p-pre_deployment-4-1", "master")));
    let last = ancestors_of(&waits, &at("p-post_deployment-2-1", "2"));
    assert!(last.contains(&at("post_deployment_end", "sync")), "{last:?}");
    let end = ancestors_of(&waits, &at("post_deployment_end", "sync"));
    assert!(!end.iter().any(|(name, _)| name.starts_with("p-post")), "{end:?}");
}

#[test]
fn ids_are_stable() {
    let one =
        tasks(&["pre_deployment/-99.9", "post_deployment/100", "post_deployment/100.0", "post_deployment"]);
    let ids = |plugins: &[StagePlugin<'_>]| -> BTreeSet<String> {
        let tasks = graph_with(plugins).into_iter().map(|task| task.name);
        tasks.filter(|name| name.starts_with("p-") && !name.ends_with("-done")).collect()
    };
    let expected: BTreeSet<String> = [
        "p-pre_deployment-minus99_9-1",
        "p-post_deployment-100-1",
        "p-post_deployment-100-2",
        "p-post_deployment-0-1",
    ]
    .map(str::to_owned)
    .into();
    assert_eq!(ids(&[plugin("p", &one)]), expected);
    let other = tasks(&["pre_deployment/-99.9", "post_deployment/100"]);
    assert_eq!(ids(&[plugin("a", &other), plugin("p", &one)]), expected);
    let updated = StagePlugin { version: "2.0.0", ..plugin("p", &one) };
    assert_eq!(ids(&[updated]), expected);
    let mut longer = tasks(&["post_deployment/50"]);
    longer.extend(one.clone());
    assert!(ids(&[plugin("p", &longer)]).is_superset(&expected));
}

#[test]
fn fields_are_preserved_and_defaults_added() {
    let declared = vec![json!({
        "type": "shell", "role": ["controller"], "stage": "post_deployment",
        "condition": "settings:a.value == true", "parameters": {"cmd": "x", "timeout": 5},
    })];
    let first = StagePlugin { package_version: "1.0.0", ..plugin("old", &declared) };
    let tasks = graph_with(&[first]);
    let task = tasks.iter().find(|task| task.name == "old-post_deployment-0-1").unwrap();
    assert_eq!(
        Json::Object(task.fields.clone()),
        json!({
            "type": "shell", "roles": ["controller", "primary-controller"], "stage": "post_deployment",
            "condition": "settings:a.value == true", "parameters": {"cmd": "x", "timeout": 5},
            "version": "2.0.0", "fail_on_error": true, "diagnostic_name": "old-1.0.0",
            "cross_depends": [{"name": "post_deployment_end", "role": null}],
        })
    );
    let marker = tasks.iter().find(|task| task.name == "old-post_deployment-0-1-done").unwrap();
    assert_eq!(
        Json::Object(marker.fields.clone()),
        json!({
            "version": "2.0.0", "type": "stage", "requires": ["post_deployment_end"],
            "cross_depends": [{"name": "old-post_deployment-0-1", "role": ["controller", "primary-controller"]}],
        })
    );
}

fn graph_task(name: &str, fields: &Json) -> Task {
    Task { name: name.to_owned(), fields: fields.as_object().unwrap().clone() }
}

fn adapted_graph_task(fields: &Json) -> Vec<Task> {
    let task = graph_task("mine", fields);
    graph_with(&[StagePlugin { graph_tasks: &[&task], ..plugin("p", &[]) }])
}

#[test]
fn graph_tasks_keep_ids_and_dependencies() {
    let tasks = adapted_graph_task(&json!({
        "type": "shell", "groups": ["compute"], "stage": "pre_deployment/5", "requires": ["x"],
        "cross_depends": [{"name": "y"}], "required_for": ["pre_deployment_end", "z"],
        "cross_depended_by": [{"name": "pre_deployment_end", "role": null}],
    }));
    let task = tasks.iter().find(|task| task.name == "mine").unwrap();
    let end = json!({"name": "pre_deployment_end", "role": null});
    assert_eq!(task.field("cross_depends"), Some(&json!([{"name": "y"}, end])));
    assert_eq!(task.field("requires"), Some(&json!(["x"])));
    assert_eq!(
        (task.field("required_for"), task.field("cross_depended_by")),
        (Some(&json!(["z"])), Some(&json!([])))
    );
    let marker = tasks.iter().find(|task| task.name == "mine-done").unwrap();
    assert_eq!(marker.field("required_for"), Some(&json!(["deploy_start"])));
    let tasks = adapted_graph_task(&json!({"stage": "pre_deployment", "cross_depends": {"yaql_exp": "$.x"}}));
    let task = tasks.iter().find(|task| task.name == "mine").unwrap();
    assert_eq!(task.field("requires"), Some(&json!(["pre_deployment_end"])));
}

#[test]
fn file_tasks_are_ordered_by_stage_only() {
    let mut declared = with_roles("pre_deployment/1", &json!("*"));
    declared["id"] = json!("trick");
    declared["required_for"] = json!(["pre_deployment_end"]);
    declared["cross-depends"] = json!([{"name": "deploy_end"}]);
    // A duplicate ID, and an ID that looks like a generated one.
    let mut again = declared.clone();
    again["id"] = json!("pre_deployment-1-1");
    let tasks = graph_with(&[plugin(
        "p",
        &[declared.clone(), declared, again, with_roles("pre_deployment/1", &json!("*"))],
    )]);
    let ids: Vec<&str> =
        tasks[6..].iter().map(|task| &*task.name).filter(|name| !name.ends_with("-done")).collect();
    assert_eq!(ids, ["p-trick", "p-pre_deployment-1-1", "p-pre_deployment-1-2", "p-pre_deployment-1-3"]);
    let task = tasks.iter().find(|task| task.name == "p-trick").unwrap();
    assert_eq!(task.field("required_for"), None);
    assert_eq!(task.field("cross_depends"), Some(&json!([{"name": "pre_deployment_end", "role": null}])));
}

#[test]
fn order_holds_without_stage_tasks_in_the_graph() {
    let declared = tasks(&["post_deployment", "pre_deployment/7"]);
    let core = CoreTasks::new(std::iter::empty());
    assert_eq!(core.stages_without_end().len(), 2);
    let layers = graph_tasks(&[plugin("p", &declared)], &core).unwrap();
    let waits = waits(&layers[0].tasks, &nodes());
    let before = ancestors_of(&waits, &("p-post_deployment-0-1".to_owned(), "1".to_owned()));
    assert!(before.contains(&("p-pre_deployment-7-1".to_owned(), "3".to_owned())), "{before:?}");
}

fn stage_texts() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        Just(String::new()),
        (-3i32..3).prop_map(|number| format!("/{number}")),
        (-3i32..3).prop_map(|number| format!("/{number}.0")),
        (-300i32..300).prop_map(|number| format!("/{}.{}", number / 100, number.abs() % 100)),
    ];
    (prop::sample::select(vec!["pre_deployment", "post_deployment"]), number)
        .prop_map(|(name, number)| name.to_owned() + &number)
}

fn plugin_sets() -> impl Strategy<Value = BTreeMap<String, Vec<Json>>> {
    let role = prop::sample::select(vec![
        json!("*"),
        json!("master"),
        json!(["compute"]),
        json!(["nobody"]),
        json!([]),
    ]);
    let task = (stage_texts(), role).prop_map(|(stage, role)| with_roles(&stage, &role));
    prop::collection::btree_map("[a-c][0-9_-]{0,2}", prop::collection::vec(task, 0..6), 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn graph_preserves_the_order_on_all_nodes(sets in plugin_sets()) {
        let plugins: Vec<StagePlugin<'_>> = sets.iter().map(|(name, tasks)| plugin(name, tasks)).collect();
        let tasks = graph_with(&plugins);
        let distinct: BTreeSet<&str> = tasks.iter().map(|task| &*task.name).collect();
        prop_assert_eq!(distinct.len(), tasks.len(), "IDs are unique");
        let waits = waits(&tasks, &nodes());
        let ordered = order_tasks(&plugins).unwrap();
        // Layers contain the tasks of a plugin in execution order, so IDs are found by iterating over both.
        let mut next: BTreeMap<&str, usize> = BTreeMap::new();
        let core = core();
        let layers = graph_tasks(&plugins, &CoreTasks::new(core.iter())).unwrap();
        let mut ids = Vec::new();
        for task in &ordered {
            let at = next.entry(task.plugin).or_default();
            let layer = layers.iter().find(|layer| layer.plugin == task.plugin).unwrap();
            ids.push(layer.tasks[*at].name.clone());
            *at += 2;
        }
        let instances_of = |id: &str| waits.keys().filter(|(name, _)| name == id).cloned().collect::<Vec<_>>();
        for (later_idx, later) in ids.iter().enumerate() {
            for instance in instances_of(later) {
                let before = ancestors_of(&waits, &instance);
                prop_assert!(!before.contains(&instance), "cycle");
                for earlier in &ids[..later_idx] {
                    prop_assert!(instances_of(earlier).iter().all(|other| before.contains(other)));
                }
            }
        }
    }
}
