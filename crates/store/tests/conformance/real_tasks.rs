//! The tasks of the real default graph.

use stoker_model::{Json, JsonMap, Task, canonical_field};
use stoker_yaml::{LoadLimits, Node, NodeKind, Scalar, load};

const FILE: &str = "fuel-library/default-graph.yaml";

/// Returns the real tasks; `None` if the test data is not installed.
pub(crate) fn real_tasks() -> Option<Vec<Task>> {
    let text = std::fs::read_to_string(stoker_testkit::real_data(FILE)?).unwrap();
    let loaded = load(&text, &LoadLimits::default());
    let tasks = loaded.documents[0].root.as_seq().unwrap().iter().map(|node| {
        let Json::Object(document) = json(node) else { panic!("a task is a map") };
        let fields = document.into_iter();
        let mut fields: JsonMap =
            fields.map(|(name, value)| (canonical_field(&name).to_owned(), value)).collect();
        let name = fields.remove("id").unwrap().as_str().unwrap().to_owned();
        Task { name, fields }
    });
    Some(tasks.collect())
}

fn json(node: &Node) -> Json {
    match &node.kind {
        NodeKind::Scalar(Scalar::Null) => Json::Null,
        NodeKind::Scalar(Scalar::Bool(value)) => Json::from(*value),
        NodeKind::Scalar(Scalar::Int(value)) => Json::from(*value),
        NodeKind::Scalar(Scalar::Float(value)) => Json::from(*value),
        NodeKind::Scalar(other) => Json::from(other.to_string()),
        NodeKind::Seq(items) => items.iter().map(json).collect(),
        NodeKind::Map(entries) => {
            entries.iter().map(|(key, value)| (key.as_str().unwrap().to_owned(), json(value))).collect()
        }
    }
}
