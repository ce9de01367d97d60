//! Facts of a node from two sources.

use crate::{Json, JsonMap, NodeId};

/// Facts that a user uploaded for a node, and those that its agent reports.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeFacts {
    pub node_id: NodeId,
    pub uploaded: JsonMap,
    pub reported: JsonMap,
}

impl NodeFacts {
    /// Returns the reported facts with the uploaded ones merged into them.
    pub fn merged(&self) -> JsonMap {
        let mut facts = self.reported.clone();
        merge_json(&mut facts, self.uploaded.clone());
        facts
    }
}

/// Merges a map into another: nested maps are merged recursively, other values are replaced.
pub fn merge_json(base: &mut JsonMap, over: JsonMap) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(Json::Object(inner)), Json::Object(over)) => merge_json(inner, over),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}
