//! A real cluster, enlarged with copies of its compute node.
//!
//! Each copy adds entries to the common document, so the state grows with the fleet.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;

use stoker_helpers::yaql_value;
use stoker_model::{Json, Task};
use stoker_planner::{NodeInput, SplitDocuments, split_common};
use stoker_state::{AppliedStates, Document, EffectiveState, master_document};
use stoker_yaml::{LoadLimits, load};
use stoker_yaql::Value;
use stoker_yaql::json::{WriteOptions, parse, write};

/// Optional test data next to the clone.
const DATA_FOLDER: &str = "../shared/data";
/// Uid of the node that is copied.
const MODEL: &str = "127";

/// Real graph and cluster.
pub(super) struct Real {
    pub(super) tasks: Vec<Task>,
    tags: BTreeMap<String, Vec<String>>,
    fleet: Fleet,
}

/// A cluster at one point in time.
pub(super) struct Fleet {
    pub(super) common: Document,
    /// Documents by node uid.
    pub(super) nodes: Vec<(String, Document)>,
}

impl Real {
    pub(super) fn read() -> Result<Self, Box<dyn Error>> {
        let folder = Path::new(DATA_FOLDER);
        let text = fs::read_to_string(folder.join("fuel-library/default-graph.yaml")).map_err(|error| {
            format!("the planner benchmark needs a real graph next to the clone: {error}")
        })?;
        let read = stoker_manifest::graph::read_tasks(&text, stoker_manifest::Format::Yaml);
        let tasks = read.into_result().map_err(|problems| stoker_diagnostics::summarize(&problems))?;
        let plans: Json = serde_json::from_str(&fs::read_to_string(folder.join("expected/plans.json"))?)?;
        let tags = serde_json::from_value(plans["node_tags"].clone())?;
        Ok(Self { tasks, tags, fleet: Fleet::read(&folder.join("nodes"))? })
    }

    /// Returns the nodes of a fleet as planner input; copies have the tags of the original.
    pub(super) fn nodes(&self, fleet: &Fleet) -> Vec<NodeInput> {
        let copied = self.tags.get(MODEL).cloned().unwrap_or_default();
        let node = |(uid, own): &(String, Document)| {
            let tags = self.tags.get(uid).unwrap_or(&copied).clone();
            NodeInput { uid: uid.clone(), tags, document: own.clone(), record: None }
        };
        fleet.nodes.iter().map(node).collect()
    }

    /// Returns the real cluster enlarged to `n_nodes`. Everything is rebuilt, as if read from a database.
    pub(super) fn grown(&self, n_nodes: usize) -> Result<Fleet, Box<dyn Error>> {
        self.fleet.grown(n_nodes)
    }
}

impl Fleet {
    fn read(folder: &Path) -> Result<Self, Box<dyn Error>> {
        let limits = LoadLimits { size_bytes_max: 64 << 20, nodes_max: 10_000_000, ..LoadLimits::default() };
        let mut documents: BTreeMap<String, Value> = BTreeMap::new();
        for entry in fs::read_dir(folder)? {
            let text = fs::read_to_string(entry?.path())?;
            let loaded = load(&text, &limits);
            let value = loaded.documents.first().and_then(|document| yaql_value(&document.root).ok());
            let uid = value.as_ref().and_then(|value| value.as_map()?.get_str("uid")?.as_str());
            if let (Some(uid), Some(value)) = (uid.map(str::to_owned), value) {
                documents.insert(uid, value);
            }
        }
        let values: Vec<Value> = documents.values().cloned().collect();
        let SplitDocuments { common, own } = split_common(&values);
        Ok(Self { common, nodes: documents.into_keys().zip(own).collect() })
    }

    fn grown(&self, n_nodes: usize) -> Result<Self, Box<dyn Error>> {
        let model =
            self.nodes.iter().find(|(uid, _)| uid == MODEL).ok_or("the node to copy does not exist")?;
        let common = parse(&text(self.common.value())?)?;
        let common_map = common.as_map().ok_or("the state is not a map")?;
        let list =
            common_map.get_str("nodes").and_then(Value::as_seq).ok_or("the state has no list of nodes")?;
        let metadata = common_map.get_str("network_metadata").and_then(Value::as_map);
        let metadata = metadata.ok_or("the state has no network metadata")?;
        let by_name =
            metadata.get_str("nodes").and_then(Value::as_map).ok_or("the network metadata has no nodes")?;
        let name = format!("node-{MODEL}");
        let is_model = |node: &&Value| {
            node.as_map().and_then(|map| map.get_str("uid")?.as_str()).is_some_and(|uid| uid == MODEL)
        };
        let record = text(list.iter().find(is_model).ok_or("the node is not listed")?)?;
        let entry = text(by_name.get_str(&name).ok_or("the node has no network metadata")?)?;
        let own = text(model.1.value())?;
        let (mut list, mut by_name) = (list.to_vec(), by_name.to_builder());
        let mut nodes = Vec::with_capacity(n_nodes);
        for (uid, own) in &self.nodes {
            nodes.push((uid.clone(), Document::new(&parse(&text(own.value())?)?)));
        }
        for number in 0..n_nodes.saturating_sub(self.nodes.len()) {
            let uid = (1000 + number).to_string();
            list.push(copy(&record, number, &uid)?);
            by_name.insert(format!("node-{uid}").into(), copy(&entry, number, &uid)?)?;
            nodes.push((uid.clone(), Document::new(&copy(&own, number, &uid)?)));
        }
        let mut metadata = metadata.to_builder();
        metadata.insert("nodes".into(), Value::frozen_dict(by_name.build()))?;
        let mut common = common_map.to_builder();
        common.insert("network_metadata".into(), Value::frozen_dict(metadata.build()))?;
        common.insert("nodes".into(), Value::tuple(list))?;
        Ok(Self { common: Document::new(&Value::frozen_dict(common.build())), nodes })
    }

    /// Returns the same fleet with one setting changed.
    pub(super) fn with_setting(self, key: &str, value: Value) -> Result<Self, Box<dyn Error>> {
        let mut common = self.common.value().as_map().ok_or("the state is not a map")?.to_builder();
        common.insert(key.into(), value)?;
        Ok(Self { common: Document::new(&Value::frozen_dict(common.build())), nodes: self.nodes })
    }

    /// Returns the old states if every task last succeeded with this fleet.
    pub(super) fn as_old(&self) -> AppliedStates {
        let mut old = AppliedStates::default();
        let state = |node| EffectiveState { common: self.common.clone(), node };
        for (uid, own) in &self.nodes {
            old.set_node(uid, state(own.clone()), None);
        }
        old.set_node(stoker_state::MASTER, state(master_document()), None);
        old
    }
}

/// Returns a document of the copied node with name, uid and address of the copy.
fn copy(document: &str, number: usize, uid: &str) -> Result<Value, Box<dyn Error>> {
    let (third, fourth) = (number / 250, number % 250 + 1);
    let text = document
        .replace(&format!("node-{MODEL}"), &format!("node-{uid}"))
        .replace(&format!("\"{MODEL}\""), &format!("\"{uid}\""))
        .replace("192.168.0.3", &format!("172.{third}.0.{fourth}"));
    Ok(parse(&text)?)
}

fn text(value: &Value) -> Result<String, Box<dyn Error>> {
    Ok(write(value, &WriteOptions::default())?)
}
