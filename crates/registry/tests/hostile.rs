//! Arbitrary documents do not cause panics.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use stoker_registry::cases::evaluate_case;
use stoker_registry::restrictions::Restriction;
use stoker_registry::stages::{CoreTasks, StagePlugin, graph_tasks};
use stoker_registry::wizard::{PluginWizard, merge_wizards, validate_answers};

const WORDS: &[&str] = &[
    "name",
    "plugin",
    "version",
    "wizard",
    "values",
    "data",
    "bind",
    "restrictions",
    "component",
    "type",
    "radio",
    "checkbox",
    "Network",
    "Compute",
    "items",
    "any_of",
    "all_of",
    "requires",
    "incompatible",
    "compatible_storages",
    "network:a",
    "network:*",
    "networking:core",
    "all",
    "stage",
    "pre_deployment/1",
    "tasks",
    "roles",
    "cross_depends",
    "wizard:Network.a == 1",
    "a b",
    "",
    "label",
    "condition",
    "metadata",
    "id",
];

fn documents() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        prop::sample::select(WORDS).prop_map(Json::from),
    ];
    leaf.prop_recursive(6, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Json::from),
            prop::collection::vec((prop::sample::select(WORDS), inner), 0..6)
                .prop_map(|entries| entries.into_iter().collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_cases_do_not_panic(a in documents(), b in documents(), c in documents(), list in prop::collection::vec(documents(), 0..3)) {
        let plugins = json!([{"name": "p", "provides": list, "components": list, "tasks": list, "releases": list}]);
        for case in [
            a.clone(),
            json!({"kind": "decision", "components": list, "plugins": plugins, "selection": ["network:a", "x"], "release": a}),
            json!({"kind": "decision", "components": a, "plugins": b, "selection": c}),
            json!({"kind": "wizard_mix", "release_wizard": a, "plugin_wizards": [{"plugin": "p", "wizard": b}, {"plugin": "q", "wizard": c}]}),
            json!({"kind": "wizard_mix", "release_wizard": {"Network": a}, "plugin_wizards": [{"plugin": "p", "wizard": {"Network": b}}]}),
            json!({"kind": "stage_order", "plugins": plugins}),
            json!({"kind": "restriction_gen", "wizard": {"Network": a, "Compute": b}, "components": list, "plugins": plugins}),
        ] {
            let result = evaluate_case(&case);
            prop_assert!(result.get("result").is_some() != result.get("error").is_some());
        }
        _ = Restriction::parse(&a);
    }

    #[test]
    fn arbitrary_wizards_do_not_panic(wizard in documents(), addition in documents(), answers in documents()) {
        let plugin = PluginWizard { name: "p", version: "1", wizard: &addition, components: Vec::new() };
        let wizard = json!({"Network": wizard, "Compute": {"a": {"type": "radio", "values": wizard}, "b": wizard}});
        if let Ok(mixed) = merge_wizards(&wizard, &[plugin]) {
            let answers = json!({"Network": answers, "Compute": {"a": answers}});
            let no_models = |_: &str| None;
            _ = validate_answers(&mixed, answers.as_object().unwrap_or(&serde_json::Map::new()), &no_models, &BTreeSet::new());
        }
    }

    #[test]
    fn arbitrary_stage_tasks_are_converted(body in documents(), number in any::<f64>().prop_filter("finite", |number| number.is_finite())) {
        let mut task = json!({"stage": format!("pre_deployment/{number}")});
        if let (Json::Object(task), Json::Object(body)) = (&mut task, body) {
            task.extend(body.into_iter().filter(|(key, _)| key != "stage"));
        }
        let tasks = [task];
        let plugin = StagePlugin { name: "p", version: "1", package_version: "2.0.0", tasks: &tasks, graph_tasks: &[] };
        let lengths = graph_tasks(&[plugin], &CoreTasks::default());
        let lengths = lengths.map(|layers| layers[0].tasks.iter().map(|task| task.name.len()).collect::<Vec<_>>());
        prop_assert!(lengths.is_ok_and(|lengths| lengths.len() == 2 && lengths.iter().all(|length| *length <= 80)));
    }
}

/// Quadratic searches would take minutes here.
#[test]
fn large_cases_take_linear_time() {
    const N: usize = 30_000;
    let options =
        |first: usize| -> Json { (first..first + N).map(|at| json!({"data": at, "label": "x"})).collect() };
    let binds = |first: usize| -> Json {
        (first..first + N).map(|at| json!({format!("settings:a.b{at}"): at})).collect()
    };
    let wizard = |first: usize| {
        json!({"Network": {
            "manager": {"values": options(first), "restrictions": options(first)},
            "other": {"bind": binds(first)},
        }})
    };
    let case = json!({
        "kind": "wizard_mix", "id": 1, "release_wizard": wizard(0),
        "plugin_wizards": [{"plugin": "p", "wizard": wizard(N / 2)}],
    });
    let mixed = evaluate_case(&case);
    let manager = &mixed["result"]["Network"]["manager"];
    assert_eq!(manager["values"].as_array().unwrap().len(), N + N / 2);
    assert_eq!(manager["restrictions"].as_array().unwrap().len(), N + N / 2);
    assert_eq!(mixed["result"]["Network"]["other"]["bind"].as_array().unwrap().len(), N + N / 2);
    let tasks: Json = (0..N).map(|at| json!({"stage": format!("pre_deployment/{}", N - at)})).collect();
    let case = json!({"kind": "stage_order", "id": 2, "plugins": [{"name": "p", "tasks": tasks}]});
    assert_eq!(evaluate_case(&case)["result"][0], json!(["p", N - 1]));
    let requires: Json = (0..N).map(|at| json!({"name": format!("kind{at}:x")})).collect();
    let case = json!({"kind": "decision", "id": 3, "components": [{"name": "storage:a", "requires": requires}], "selection": ["storage:a"]});
    assert_eq!(evaluate_case(&case)["result"]["conflicts"].as_array().unwrap().len(), N + 1);
}
