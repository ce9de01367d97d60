use proptest::prelude::*;
use serde_json::json;
use stoker_model::OwnerKind;

use super::*;

fn task(name: &str, fields: &Json) -> Task {
    Task { name: name.to_owned(), fields: fields.as_object().cloned().unwrap_or_default() }
}

fn plugin(name: &str, version: &str) -> Source {
    Source::Plugin { name: name.to_owned(), version: version.to_owned() }
}

fn rules(order: MergeOrder, mode: MergeMode) -> MergeRules {
    MergeRules { order, mode }
}

/// Renders one line per task with its fields and their provenance.
fn render(merged: &MergedGraph<'_>) -> Vec<String> {
    let field = |field: &MergedField<'_>| {
        let overrode = if field.overridden_layers.is_empty() {
            String::new()
        } else {
            format!(" over {:?}", field.overridden_layers)
        };
        format!("{}={}@{}{overrode}", field.name, field.value, field.set_by)
    };
    merged
        .tasks
        .iter()
        .map(|task| {
            format!(
                "{}: {}",
                task.name,
                task.fields().map(|merged| field(&merged)).collect::<Vec<_>>().join(", ")
            )
        })
        .collect()
}

#[test]
fn stronger_layer_overrides_attributes() {
    let release =
        [task("a", &json!({"type": "shell", "requires": ["x"]})), task("b", &json!({"type": "puppet"}))];
    let cluster = [task("a", &json!({"type": "skipped"}))];
    let plugins = [task("b", &json!({"type": "shell"})), task("c", &json!({"type": "shell"}))];
    let layers = [
        Layer::of_tasks(plugin("p", "1.0.0"), &plugins),
        Layer::of_tasks(Source::Cluster, &cluster),
        Layer::of_tasks(Source::Release, &release),
    ];
    let merged = merge(&layers, MergeRules::default());
    assert_eq!(merged.sources, [Source::Release, Source::Cluster, plugin("p", "1.0.0")]);
    assert_eq!(
        render(&merged),
        [
            "a: type=\"skipped\"@1 over [0], requires=[\"x\"]@0",
            "b: type=\"shell\"@2 over [0]",
            "c: type=\"shell\"@2"
        ]
    );
    assert_eq!(merged.task("a").unwrap().defined_by().collect::<Vec<_>>(), [0, 1]);
    assert_eq!(
        merged.task("a").unwrap().to_task(),
        task("a", &json!({"type": "skipped", "requires": ["x"]}))
    );
    assert_eq!(merged.findings, []);
    assert_eq!(merged.sources[2].kind(), OwnerKind::Plugin);
}

#[test]
fn replace_mode_replaces_whole_tasks() {
    let release = [task("a", &json!({"type": "shell", "requires": ["x"]}))];
    let cluster = [task("a", &json!({"type": "skipped", "own": 1}))];
    let layers = [Layer::of_tasks(Source::Release, &release), Layer::of_tasks(Source::Cluster, &cluster)];
    let merged = merge(&layers, rules(MergeOrder::default(), MergeMode::Replace));
    assert_eq!(render(&merged), ["a: type=\"skipped\"@1 over [0], own=1@1"]);
    assert_eq!(merged.tasks[0].defined_by().collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn merge_order_decides_between_cluster_and_plugins() {
    let (cluster, plugins) = ([task("a", &json!({"type": "shell"}))], [task("a", &json!({"type": "sync"}))]);
    let layers = [Layer::of_tasks(Source::Cluster, &cluster), Layer::of_tasks(plugin("p", "1"), &plugins)];
    let winner = |order| merge(&layers, rules(order, MergeMode::Attributes)).tasks[0].value("type").cloned();
    assert_eq!(winner(MergeOrder::ReleaseClusterPlugins), Some(json!("sync")));
    assert_eq!(winner(MergeOrder::ReleasePluginsCluster), Some(json!("shell")));
}

#[test]
fn plugins_are_merged_by_name_then_version() {
    let tasks: Vec<[Task; 1]> = (0..4).map(|at| [task("a", &json!({"type": "shell", "n": at}))]).collect();
    let layers = [
        Layer::of_tasks(plugin("b", "1.0.0"), &tasks[0]),
        Layer::of_tasks(plugin("a", "1.10.0"), &tasks[1]),
        Layer::of_tasks(plugin("a", "1.9.0"), &tasks[2]),
        Layer::of_tasks(plugin("B", "9.0.0"), &tasks[3]),
    ];
    let merged = merge(&layers, MergeRules::default());
    assert_eq!(
        merged.sources,
        [plugin("B", "9.0.0"), plugin("a", "1.9.0"), plugin("a", "1.10.0"), plugin("b", "1.0.0")]
    );
    assert_eq!(merged.tasks[0].value("n"), Some(&json!(0)));
}

#[test]
fn release_of_a_plugin_overrides_its_pre_releases() {
    let tasks: Vec<[Task; 1]> = (0..3).map(|at| [task("a", &json!({"type": "shell", "n": at}))]).collect();
    let layers = [
        Layer::of_tasks(plugin("a", "2.0.0"), &tasks[0]),
        Layer::of_tasks(plugin("a", "2.0.0b10"), &tasks[1]),
        Layer::of_tasks(plugin("a", "2.0.0b9"), &tasks[2]),
    ];
    let merged = merge(&layers, MergeRules::default());
    assert_eq!(merged.sources, [plugin("a", "2.0.0b9"), plugin("a", "2.0.0b10"), plugin("a", "2.0.0")]);
    assert_eq!(merged.tasks[0].value("n"), Some(&json!(0)));
}

#[test]
fn plugin_conflicts_are_reported() {
    let release = [task("a", &json!({"type": "shell", "n": 0}))];
    let one = [task("a", &json!({"type": "shell", "n": 1})), task("b", &json!({"type": "shell"}))];
    let two = [task("a", &json!({"type": "shell", "n": 2})), task("b", &json!({"type": "shell"}))];
    let layers = [
        Layer::of_tasks(Source::Release, &release),
        Layer::of_tasks(plugin("two", "1.0.0"), &two),
        Layer::of_tasks(plugin("one", "1.0.0"), &one),
    ];
    let conflicts = |mode| {
        let merged = merge(&layers, rules(MergeOrder::default(), mode));
        merged.findings.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(
        conflicts(MergeMode::Attributes),
        [
            "task `a`, n: plugin `one` 1.0.0 and plugin `two` 1.0.0 set `n` to different values; plugin `two` 1.0.0 takes \
          precedence (plugins are merged in order of name and version; set the value in only one of them)",
            "task `b`: plugin `one` 1.0.0 and plugin `two` 1.0.0 define the task; their attributes are merged (plugins are \
             merged in order of name and version; rename the task unless this is intended)",
        ]
    );
    assert_eq!(
        conflicts(MergeMode::Replace),
        [
            "task `a`: plugin `one` 1.0.0 and plugin `two` 1.0.0 define the task; plugin `two` 1.0.0 takes precedence (plugins \
             are merged in order of name and version; define the task in only one of them)",
            "task `b`: plugin `one` 1.0.0 and plugin `two` 1.0.0 define the task; plugin `two` 1.0.0 takes precedence (plugins \
             are merged in order of name and version; define the task in only one of them)",
        ]
    );
}

#[test]
fn falsy_values_override_too() {
    let release = [task("a", &json!({"type": "shell", "condition": "x", "requires": ["b"]}))];
    let cluster = [task("a", &json!({"type": "shell", "condition": false, "requires": []}))];
    let layers = [Layer::of_tasks(Source::Release, &release), Layer::of_tasks(Source::Cluster, &cluster)];
    let merged = merge(&layers, MergeRules::default());
    assert_eq!(merged.tasks[0].value("condition"), Some(&json!(false)));
    assert_eq!(merged.tasks[0].value("requires"), Some(&json!([])));
}

#[test]
fn placement_is_replaced_as_a_whole() {
    let release = [task("a", &json!({"type": "shell", "tags": ["x"], "groups": ["g"], "requires": []}))];
    let cluster = [task("a", &json!({"roles": ["y"]}))];
    let plugins = [task("a", &json!({"requires": ["b"]}))];
    let layers = [
        Layer::of_tasks(Source::Release, &release),
        Layer::of_tasks(Source::Cluster, &cluster),
        Layer::of_tasks(plugin("p", "1"), &plugins),
    ];
    let merged = merge(&layers, MergeRules::default());
    assert_eq!(
        render(&merged),
        ["a: type=\"shell\"@0, requires=[\"b\"]@2 over [0], roles=[\"y\"]@1 over [0]"]
    );
    assert_eq!(merged.tasks[0].value("tags"), None);
    assert_eq!(merged.tasks[0].to_task().field("groups"), None);
}

#[test]
fn plugins_that_place_a_task_differently_conflict_once() {
    let one = [task("a", &json!({"type": "shell", "roles": ["x"]}))];
    let two = [task("a", &json!({"tags": ["x"], "groups": ["y"]}))];
    let layers = [Layer::of_tasks(plugin("one", "1"), &one), Layer::of_tasks(plugin("two", "1"), &two)];
    let findings = merge(&layers, MergeRules::default()).findings;
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(findings[0].message.contains("set the placement to different values"), "{findings:?}");
}

fn layers() -> impl Strategy<Value = Vec<(Source, Vec<Task>)>> {
    let source = prop_oneof![
        Just(Source::Release),
        Just(Source::Cluster),
        ("[ab]", 0..3_u8).prop_map(|(name, version)| plugin(&name, &version.to_string())),
    ];
    let fields = prop::collection::btree_map("[p-t]|tags|roles|groups", 0..3_u8, 0..5);
    let tasks = prop::collection::btree_map("[a-e]", fields, 0..5).prop_map(|tasks| {
        tasks.into_iter().map(|(name, fields)| task(&name, &json!(fields))).collect::<Vec<_>>()
    });
    prop::collection::vec((source, tasks), 0..5).prop_map(|mut layers| {
        let mut sources = Vec::new();
        layers.retain(|(source, _)| {
            !sources.contains(source) && {
                sources.push(source.clone());
                true
            }
        });
        layers
    })
}

/// Merges naively: for each task and field, selects the strongest layer that sets it; placement fields are one field.
fn oracle(
    merged: &MergedGraph<'_>,
    layers: &[(Source, Vec<Task>)],
    mode: MergeMode,
) -> Vec<(String, JsonMap)> {
    let strong_first: Vec<&Vec<Task>> = merged
        .sources
        .iter()
        .rev()
        .map(|source| &layers.iter().find(|(other, _)| other == source).unwrap().1)
        .collect();
    let find = |tasks: &'_ Vec<Task>, name: &str| tasks.iter().find(|task| task.name == name).cloned();
    merged
        .tasks
        .iter()
        .map(|task| {
            let mut definitions = strong_first.iter().filter_map(|tasks| find(tasks, task.name));
            let mut fields = definitions.next().unwrap().fields;
            if mode == MergeMode::Attributes {
                for definition in definitions {
                    let is_placed = PLACEMENT_FIELDS.iter().any(|field| fields.contains_key(*field));
                    for (name, value) in definition.fields {
                        if !is_placed || !PLACEMENT_FIELDS.contains(&name.as_str()) {
                            fields.entry(name).or_insert(value);
                        }
                    }
                }
            }
            (task.name.to_owned(), fields)
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn merge_matches_naive_merge(
        input in layers(),
        order in prop::sample::select(MergeOrder::ALL),
        mode in prop::sample::select(MergeMode::ALL),
    ) {
        let as_layers: Vec<Layer<'_>> =
            input.iter().map(|(source, tasks)| Layer::of_tasks(source.clone(), tasks)).collect();
        let merged = merge(&as_layers, rules(order, mode));
        let ours: Vec<(String, JsonMap)> =
            merged.tasks.iter().map(|task| (task.name.to_owned(), task.to_task().fields)).collect();
        prop_assert_eq!(&ours, &oracle(&merged, &input, mode));
        let names: std::collections::BTreeSet<&str> =
            input.iter().flat_map(|(_, tasks)| tasks.iter().map(|task| task.name.as_str())).collect();
        prop_assert_eq!(names.len(), merged.tasks.len(), "each task occurs once");
        for task in &merged.tasks {
            prop_assert!(task.defined_by().is_sorted());
            for field in task.fields() {
                let (_, tasks) = input.iter().find(|(source, _)| *source == merged.sources[field.set_by as usize]).unwrap();
                let set = tasks.iter().find(|other| other.name == task.name).unwrap().field(field.name);
                prop_assert_eq!(set, Some(field.value), "provenance names the layer of the value");
                prop_assert!(field.overridden_layers.iter().all(|layer| *layer < field.set_by));
            }
        }
        // The order in which layers are passed does not matter.
        let mut reversed = as_layers.clone();
        reversed.reverse();
        prop_assert_eq!(merge(&reversed, rules(order, mode)), merged);
    }
}

#[test]
fn tasks_with_many_fields_are_merged() {
    let many = |from: usize| -> Task {
        task("a", &Json::Object((from..from + 100).map(|at| (format!("f{at}"), json!(at))).collect()))
    };
    let (first, second, third) = ([many(0)], [many(50)], [many(120)]);
    let layers = [
        Layer::of_tasks(Source::Release, &first),
        Layer::of_tasks(Source::Cluster, &second),
        Layer::of_tasks(plugin("p", "1"), &third),
    ];
    let merged = merge(&layers, MergeRules::default());
    assert_eq!(merged.tasks[0].fields().count(), 220);
    assert_eq!(merged.tasks[0].field("f60").unwrap().overridden_layers[..], [0]);
    assert_eq!(merged.tasks[0].field("f130").unwrap().set_by, 2);
}
