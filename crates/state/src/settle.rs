//! Statuses after a run. A plan is computed before its run; recording a success with the later statuses prevents
//! `changed($.nodes)` from being true in every second run.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::json;
use stoker_model::{ClusterStatus, GraphType, Json, JsonMap, Node, NodeErrorKind, NodeStatus};

use crate::json::object;

/// Statuses after a successful run. Nodes that are not listed keep theirs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// UIDs of nodes by status.
    pub status: BTreeMap<String, Vec<String>>,
    /// UIDs of nodes that leave the cluster.
    pub gone: Vec<String>,
    /// Status of the cluster.
    pub cluster: String,
}

/// What the status of a cluster depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeSummary {
    pub status: NodeStatus,
    pub pending_addition: bool,
    pub error_type: Option<NodeErrorKind>,
}

impl From<&Node> for NodeSummary {
    fn from(node: &Node) -> Self {
        Self { status: node.status, pending_addition: node.pending_addition, error_type: node.error_type }
    }
}

/// The status of a cluster after a run: stopped, or derived from its nodes. A run that left nodes out is partial.
pub fn cluster_status_after(
    nodes: impl Iterator<Item = NodeSummary>,
    is_stopped: bool,
    is_partial: bool,
) -> ClusterStatus {
    if is_stopped {
        return ClusterStatus::Stopped;
    }
    let nodes: Vec<NodeSummary> = nodes.collect();
    let is_well = |node: &NodeSummary| node.status == NodeStatus::Ready && node.error_type.is_none();
    let is_untouched = |node: &NodeSummary| node.pending_addition && node.error_type.is_none();
    if is_partial {
        ClusterStatus::PartiallyDeployed
    } else if nodes.iter().all(is_well) {
        ClusterStatus::Operational
    } else if nodes.iter().all(is_untouched) {
        ClusterStatus::New
    } else {
        ClusterStatus::PartiallyDeployed
    }
}

/// The status of a graph's `on_success` that takes a node out of its cluster.
const DELETED: &str = "deleted";

/// The statuses after a run that succeeds on all `participants`, given as UIDs. `on_success` is that of the graph:
/// without one, nodes become ready, or leave if they are marked for removal and the graph is `deletion`. If
/// `on_success` is present but sets no status, statuses are unchanged.
pub fn settled(
    nodes: &[Node],
    participants: &BTreeSet<String>,
    graph_type: &GraphType,
    on_success: Option<&JsonMap>,
    has_excluded: bool,
) -> Settled {
    let status_of = |node: &Node| match on_success {
        None if graph_type.is_deletion() && node.pending_deletion => Some(DELETED),
        None => Some(NodeStatus::Ready.as_str()),
        Some(on_success) => {
            let attributes = on_success.get("node_attributes").and_then(Json::as_object);
            attributes.and_then(|attributes| attributes.get("status")).and_then(Json::as_str)
        }
    };
    let mut settled = Settled::default();
    let mut after = Vec::with_capacity(nodes.len());
    for node in nodes {
        let (uid, mut summary) = (node.id.to_string(), NodeSummary::from(node));
        match status_of(node).filter(|_| participants.contains(&uid)) {
            Some(DELETED) => {
                settled.gone.push(uid);
                continue;
            }
            Some(word) => {
                if let Some(status) = NodeStatus::parse(word) {
                    summary.status = status;
                    if status == NodeStatus::Ready {
                        (summary.pending_addition, summary.error_type) = (false, None);
                    }
                    settled.status.entry(word.to_owned()).or_default().push(uid);
                }
            }
            None => {}
        }
        after.push(summary);
    }
    let cluster = cluster_status_after(after.into_iter(), false, has_excluded).to_string();
    Settled { cluster, ..settled }
}

impl Settled {
    /// The form in which it is stored.
    pub fn to_document(&self) -> JsonMap {
        object(json!({"status": self.status, "gone": self.gone, "cluster": self.cluster}))
    }

    /// Reads the stored form; entries of another type are ignored.
    pub fn from_document(document: &JsonMap) -> Self {
        let texts = |list: &Json| -> Vec<String> {
            list.as_array().into_iter().flatten().filter_map(|text| Some(text.as_str()?.to_owned())).collect()
        };
        let status = document.get("status").and_then(Json::as_object).into_iter().flatten();
        Self {
            status: status.map(|(status, uids)| (status.clone(), texts(uids))).collect(),
            gone: document.get("gone").map(texts).unwrap_or_default(),
            cluster: document.get("cluster").and_then(Json::as_str).unwrap_or_default().to_owned(),
        }
    }

    /// Statuses by node UID.
    pub fn by_uid(&self) -> HashMap<&str, &str> {
        let nodes = self.status.iter();
        nodes.flat_map(|(status, uids)| uids.iter().map(move |uid| (uid.as_str(), status.as_str()))).collect()
    }
}

/// Gives the records of all nodes and the cluster their statuses after the run.
pub fn settle_common(common: &mut JsonMap, settled: &Settled) {
    let by_uid = settled.by_uid();
    let gone: BTreeSet<&str> = settled.gone.iter().map(String::as_str).collect();
    if let Some(Json::Array(records)) = common.get_mut("nodes") {
        records.retain(|record| !uid_of(record).is_some_and(|uid| gone.contains(uid)));
        for record in records {
            if let Some(status) = uid_of(record).and_then(|uid| by_uid.get(uid).copied())
                && let Json::Object(record) = record
            {
                set_status(record, status);
            }
        }
    }
    if let Some(Json::Object(cluster)) = common.get_mut("cluster")
        && !settled.cluster.is_empty()
    {
        cluster.insert("status".to_owned(), Json::from(settled.cluster.as_str()));
    }
}

fn uid_of(record: &Json) -> Option<&str> {
    record.get("uid")?.as_str()
}

/// Sets the status in the record or the own document of a node. A node that is ready has the roles that were pending; documents
/// list these among its roles already.
pub fn set_status(document: &mut JsonMap, status: &str) {
    document.insert("status".to_owned(), Json::from(status));
    if status == NodeStatus::Ready.as_str() {
        for (key, value) in [("pending_addition", json!(false)), ("pending_roles", json!([]))] {
            if let Some(entry) = document.get_mut(key) {
                *entry = value;
            }
        }
    }
}

/// Keys of records that documents of earlier versions lack.
const NEWER_KEYS: &[&str] = &[
    "hostname",
    "pending_roles",
    "pending_addition",
    "pending_deletion",
    "label",
    "attribute",
    "network_scheme",
];

/// Adapts a common document that was stored without the statuses after its run: missing values are taken from the
/// new state, so that an upgrade changes nothing by itself.
pub fn settle_legacy_common(common: &mut JsonMap, new: &JsonMap) {
    let records = |document: &JsonMap| -> HashMap<String, JsonMap> {
        let records = document.get("nodes").and_then(Json::as_array).into_iter().flatten();
        let by_uid = |record: &Json| Some((uid_of(record)?.to_owned(), record.as_object()?.clone()));
        records.filter_map(by_uid).collect()
    };
    let new_records = records(new);
    if let Some(Json::Array(records)) = common.get_mut("nodes") {
        for record in records {
            let new = uid_of(record).and_then(|uid| new_records.get(uid));
            if let (Some(new), Json::Object(record)) = (new, record) {
                adapt(record, new);
                record.shift_remove("online");
            }
        }
    }
    let new_status = new.get("cluster").and_then(|cluster| cluster.get("status")).cloned();
    if let (Some(Json::Object(cluster)), Some(status)) = (common.get_mut("cluster"), new_status) {
        cluster.insert("status".to_owned(), status);
    }
}

/// Adapts the own document of a node like [`settle_legacy_common`].
pub fn settle_legacy_own(own: &mut JsonMap, new: &JsonMap) {
    adapt(own, new);
    if let Some(Json::Object(facts)) = own.get_mut("facts") {
        facts.shift_remove("boot_id");
    }
}

fn adapt(document: &mut JsonMap, new: &JsonMap) {
    if let Some(status) = new.get("status") {
        document.insert("status".to_owned(), status.clone());
    }
    for key in NEWER_KEYS.iter().filter(|key| !document.contains_key(**key)).collect::<Vec<_>>() {
        if let Some(value) = new.get(*key) {
            document.insert((*key).to_owned(), value.clone());
        }
    }
}
