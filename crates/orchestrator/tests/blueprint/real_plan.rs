//! Plan of the real graph on the real cluster, if the test data is installed next to the workspace.

use std::fs;

use stoker_helpers::yaql_value;
use stoker_planner::{NodeInput, Plan, PlanningInput, plan, split_common};
use stoker_testkit::real_data;
use stoker_yaml::{LoadLimits, load};
use stoker_yaql::Value;

/// Returns the plan of a first run; `None` without test data.
pub(crate) fn first_run() -> Option<Plan> {
    let expected = real_data("expected/plans.json")?;
    let expected: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&expected).expect("text")).expect("JSON");
    let text = fs::read_to_string(real_data("fuel-library/default-graph.yaml")?).expect("text");
    let read = stoker_manifest::graph::read_tasks(&text, stoker_manifest::Format::Yaml);
    let tasks = read.into_result().expect("a valid graph");
    let folder = real_data("expected/plans.json")?.parent()?.parent()?.join("nodes");
    let mut paths: Vec<_> = fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    let limits = LoadLimits { size_bytes_max: 64 << 20, nodes_max: 10_000_000, ..LoadLimits::default() };
    let documents = paths.iter().map(|path| {
        let text = fs::read_to_string(path).expect("text");
        yaql_value(&load(&text, &limits).documents[0].root).expect("data")
    });
    let uid = |document: &Value| Some(document.as_map()?.get_str("uid")?.as_str()?.to_owned());
    let documents: Vec<(String, Value)> =
        documents.filter_map(|document| Some((uid(&document)?, document))).collect();
    let values: Vec<Value> = documents.iter().map(|(_, document)| document.clone()).collect();
    let parts = split_common(&values);
    let nodes = documents.iter().zip(parts.own).map(|((uid, _), document)| {
        let tags = expected["node_tags"][uid].as_array().expect("tags");
        let tags = tags.iter().filter_map(|tag| tag.as_str().map(str::to_owned)).collect();
        NodeInput { uid: uid.clone(), tags, document, record: None }
    });
    let (plan, _) = plan(&PlanningInput::new(&tasks, parts.common, nodes.collect())).expect("a valid plan");
    Some(plan)
}
