//! The real cluster and graphs, if the data is present next to the workspace; tests without the data are
//! skipped.

#![allow(dead_code, reason = "shared by several test binaries")]

use std::fs;
use std::path::PathBuf;

use stoker_helpers::yaql_value;
use stoker_planner::{SplitDocuments, split_common};
use stoker_state::{AppliedStates, Document, EffectiveState, master_document};
use stoker_yaml::{LoadLimits, load};
use stoker_yaql::Value;
use stoker_yaql::value::Map;

pub(crate) fn folder() -> Option<PathBuf> {
    // Records the current test as skipped if the directory is missing.
    stoker_testenv::shared_folder(".")
}

pub(crate) fn yaml(text: &str) -> Value {
    let limits = LoadLimits { size_bytes_max: 64 << 20, nodes_max: 10_000_000, ..LoadLimits::default() };
    yaql_value(&load(text, &limits).documents[0].root).expect("data")
}

/// The documents of the six nodes, by uid.
pub(crate) fn node_documents() -> Option<Vec<(String, Value)>> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder()?.join("nodes")).ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    let documents = paths.iter().map(|path| yaml(&fs::read_to_string(path).expect("text")));
    let with_uid = documents.filter_map(|document| {
        let uid = document.as_map()?.get_str("uid")?.as_str()?.to_owned();
        Some((uid, document))
    });
    Some(with_uid.collect())
}

/// The state of a cluster at one time.
pub(crate) struct Cluster {
    pub(crate) common: Document,
    pub(crate) nodes: Vec<(String, Document)>,
}

impl Cluster {
    pub(crate) fn new(documents: &[(String, Value)]) -> Self {
        let values: Vec<Value> = documents.iter().map(|(_, document)| document.clone()).collect();
        let SplitDocuments { common, own } = split_common(&values);
        Self { common, nodes: documents.iter().map(|(uid, _)| uid.clone()).zip(own).collect() }
    }

    pub(crate) fn real() -> Option<Self> {
        Some(Self::new(&node_documents()?))
    }

    /// The same cluster before node 130 was added.
    pub(crate) fn before_scale_out(&self) -> Self {
        let with_replaced = |map: &Value, key: &str, value: Value| {
            let mut builder = map.as_map().expect("a map").to_builder();
            builder.insert(key.into(), value).expect("a key");
            Value::frozen_dict(builder.build())
        };
        let metadata = self.common.get("network_metadata").expect("metadata");
        let nodes =
            metadata.as_map().and_then(|map| map.get_str("nodes")).and_then(Value::as_map).expect("nodes");
        let remaining = nodes.iter().filter(|(name, _)| name.as_str() != Some("node-130"));
        let remaining =
            Map::from_strings(remaining.map(|(name, node)| (name.as_str().expect("text"), node.clone())));
        let metadata = with_replaced(metadata, "nodes", Value::frozen_dict(remaining));
        let uid =
            |node: &Value| node.as_map().and_then(|map| map.get_str("uid")?.as_str().map(str::to_owned));
        let list = self.common.get("nodes").and_then(Value::as_seq).expect("nodes");
        let list =
            Value::tuple(list.iter().filter(|node| uid(node).as_deref() != Some("130")).cloned().collect());
        let common =
            with_replaced(&with_replaced(self.common.value(), "network_metadata", metadata), "nodes", list);
        Self { common: Document::new(&common), nodes: self.nodes.clone() }
    }

    pub(crate) fn state(&self, uid: &str) -> EffectiveState {
        let own = self.nodes.iter().find(|(other, _)| other == uid).map(|(_, own)| own.clone());
        EffectiveState { common: self.common.clone(), node: own.unwrap_or_else(master_document) }
    }

    /// Old states as if every task had succeeded with this cluster's state.
    pub(crate) fn as_old(&self) -> AppliedStates {
        let mut old = AppliedStates::default();
        for (uid, _) in &self.nodes {
            old.set_node(uid, self.state(uid), None);
        }
        old.set_node("master", self.state("master"), None);
        old
    }
}

/// The tasks of a real graph.
pub(crate) fn tasks(name: &str) -> Option<Vec<stoker_model::Task>> {
    let text = fs::read_to_string(folder()?.join("fuel-library").join(name)).ok()?;
    let read = stoker_manifest::graph::read_tasks(&text, stoker_manifest::Format::Yaml);
    Some(read.into_result().expect("a valid graph"))
}

pub(crate) fn expected_plans() -> Option<serde_json::Value> {
    let text = fs::read_to_string(folder()?.join("expected/plans.json")).ok()?;
    Some(serde_json::from_str(&text).expect("JSON"))
}

/// The nodes with the tags that the expected plans assume.
pub(crate) fn node_inputs(cluster: &Cluster, plans: &serde_json::Value) -> Vec<stoker_planner::NodeInput> {
    let node = |(uid, own): &(String, Document)| {
        let tags = plans["node_tags"][uid].as_array().expect("tags");
        let tags = tags.iter().filter_map(|tag| tag.as_str().map(str::to_owned)).collect();
        stoker_planner::NodeInput { uid: uid.clone(), tags, document: own.clone(), record: None }
    };
    cluster.nodes.iter().map(node).collect()
}
