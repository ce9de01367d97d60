//! Remembered documents: `changed($.nodes)` is false until a node comes, goes or changes.

use std::collections::BTreeSet;

use serde_json::json;
use stoker_model::{GraphType, Json, JsonMap, Node, NodeErrorKind, NodeStatus};
use stoker_state::{Settled, set_status, settle_common, settle_legacy_common, settle_legacy_own, settled};

use crate::records::{Records, map};

/// A cluster before its first run.
fn fresh() -> Records {
    let mut records = Records::new();
    for node in &mut records.nodes {
        node.status = NodeStatus::Discover;
        node.pending_addition = true;
        node.pending_roles = std::mem::take(&mut node.roles);
    }
    records
}

fn uids(records: &Records) -> BTreeSet<String> {
    records.nodes.iter().map(|node| node.id.to_string()).collect()
}

/// What a successful run does to the nodes that took part.
fn run(records: &mut Records, participants: &BTreeSet<String>) {
    for node in records.nodes.iter_mut().filter(|node| participants.contains(&node.id.to_string())) {
        node.status = NodeStatus::Ready;
        node.pending_addition = false;
        let pending = std::mem::take(&mut node.pending_roles);
        node.roles.extend(pending);
        node.roles.sort_unstable();
        node.roles.dedup();
        (node.error_type, node.error_msg) = (None, None);
    }
}

/// The documents that a run with these participants remembers.
fn remembered(records: &Records, participants: &BTreeSet<String>) -> (JsonMap, Vec<JsonMap>, Settled) {
    let state = records.state();
    let settled = settled(&records.nodes, participants, &GraphType::default(), None, false);
    let mut common = state.common;
    settle_common(&mut common, &settled);
    let mut own: Vec<JsonMap> = Vec::new();
    for node in state.nodes {
        let mut document = node.document;
        if let Some(status) = settled.by_uid().get(node.uid.as_str()) {
            set_status(&mut document, status);
        }
        own.push(document);
    }
    (common, own, settled)
}

#[test]
fn second_run_sees_no_change_of_nodes() {
    let mut records = fresh();
    let all = uids(&records);
    let (common, own, settled) = remembered(&records, &all);
    run(&mut records, &all);
    let after = records.state();
    assert_eq!(after.common["nodes"], common["nodes"]);
    let after_own: Vec<JsonMap> = after.nodes.into_iter().map(|node| node.document).collect();
    assert_eq!(after_own, own);
    assert_eq!(settled.cluster, "operational");
    assert_eq!(common["cluster"]["status"], "operational");
}

#[test]
fn node_changes_are_visible_after_a_run() {
    let mut records = fresh();
    let all = uids(&records);
    let (common, ..) = remembered(&records, &all);
    run(&mut records, &all);
    let changes: [fn(&mut Vec<Node>); 6] = [
        |nodes| _ = nodes.pop(),
        |nodes| nodes.push(crate::records::node(9, &["compute"])),
        |nodes| nodes[0].labels = map(json!({"rack": "b"})),
        |nodes| nodes[0].roles = vec!["compute".to_owned()],
        |nodes| nodes[0].attributes = map(json!({"mtu": 9000})),
        |nodes| nodes[0].status = NodeStatus::Error,
    ];
    for (number, change) in changes.iter().enumerate() {
        let mut changed = fresh();
        changed.nodes = records.nodes.clone();
        change(&mut changed.nodes);
        assert_ne!(changed.state().common["nodes"], common["nodes"], "change {number}");
    }
    // Volatile data is no part of a record.
    records.nodes[0].online = false;
    records.nodes[0].progress = 40;
    assert_eq!(records.state().common["nodes"], common["nodes"]);
}

#[test]
fn nodes_outside_of_the_plan_keep_their_status() {
    let mut records = fresh();
    let participants: BTreeSet<String> = ["1".to_owned(), "3".to_owned()].into();
    let (common, _, settled) = remembered(&records, &participants);
    run(&mut records, &participants);
    assert_eq!(records.state().common["nodes"], common["nodes"]);
    assert_eq!(settled.cluster, "partially_deployed");
}

#[test]
fn pending_roles_of_deployed_nodes_are_joined() {
    let mut records = Records::new();
    records.nodes[3].pending_roles = vec!["compute".to_owned()];
    let all = uids(&records);
    let (common, ..) = remembered(&records, &all);
    run(&mut records, &all);
    assert_eq!(records.state().common["nodes"], common["nodes"]);
}

#[test]
fn graphs_decide_the_status_after_success() {
    let records = fresh();
    let all = uids(&records);
    let after = |on_success: Json| {
        settled(&records.nodes, &all, &GraphType::default(), Some(&map(on_success)), false)
    };
    let provisioned = after(json!({"node_attributes": {"status": "provisioned"}}));
    assert_eq!(provisioned.status["provisioned"].len(), 4);
    let mut common = records.state().common;
    settle_common(&mut common, &provisioned);
    assert_eq!(common["nodes"][0]["status"], "provisioned");
    assert_eq!(common["nodes"][0]["pending_addition"], true);
    assert!(after(json!({})).status.is_empty());
    assert!(after(json!({"node_attributes": {"status": 3}})).status.is_empty());
    assert!(after(json!({"node_attributes": {"status": "no such status"}})).status.is_empty());
    let deleted = after(json!({"node_attributes": {"status": "deleted"}}));
    assert_eq!((deleted.gone.len(), deleted.status.len()), (4, 0));
    settle_common(&mut common, &deleted);
    assert_eq!(common["nodes"], json!([]));
}

#[test]
fn excluded_and_failed_nodes_leave_the_cluster_partially_deployed() {
    let mut records = Records::new();
    let all = uids(&records);
    assert_eq!(
        settled(&records.nodes, &all, &GraphType::default(), None, true).cluster,
        "partially_deployed"
    );
    records.nodes[0].status = NodeStatus::Error;
    records.nodes[0].error_type = Some(NodeErrorKind::Deploy);
    let others: BTreeSet<String> = ["2".to_owned()].into();
    assert_eq!(
        settled(&records.nodes, &others, &GraphType::default(), None, false).cluster,
        "partially_deployed"
    );
    assert_eq!(settled(&records.nodes, &all, &GraphType::default(), None, false).cluster, "operational");
}

#[test]
fn settled_statuses_round_trip() {
    let settled = settled(&fresh().nodes, &["1".to_owned()].into(), &GraphType::default(), None, false);
    assert_eq!(Settled::from_document(&settled.to_document()), settled);
    let damaged = map(json!({"status": {"ready": 3}, "gone": {}, "cluster": null}));
    assert_eq!(Settled::from_document(&damaged).status["ready"], Vec::<String>::new());
}

#[test]
fn documents_of_earlier_versions_show_no_spurious_change() {
    let mut records = Records::new();
    records.nodes[0].facts = map(json!({"boot_id": "x", "cpus": 4}));
    let new = records.state();
    let mut old = new.common.clone();
    for record in old["nodes"].as_array_mut().unwrap() {
        let record = record.as_object_mut().unwrap();
        for key in ["hostname", "pending_roles", "pending_addition", "pending_deletion", "label", "attribute"]
        {
            record.shift_remove(key);
        }
        record.insert("online".to_owned(), json!(true));
        record.insert("status".to_owned(), json!("discover"));
    }
    old["cluster"]["status"] = json!("new");
    settle_legacy_common(&mut old, &new.common);
    assert_eq!(sorted(&Json::Object(old)), sorted(&Json::Object(new.common)));
    let mut own = new.nodes[0].document.clone();
    own.shift_remove("hostname");
    own.insert("status".to_owned(), json!("discover"));
    own["facts"]["boot_id"] = json!("y");
    settle_legacy_own(&mut own, &new.nodes[0].document);
    assert_eq!(sorted(&Json::Object(own)), sorted(&Json::Object(new.nodes[0].document.clone())));
}

/// Documents sort their keys before expressions see them.
fn sorted(value: &Json) -> String {
    match value {
        Json::Object(map) => {
            let mut entries: Vec<String> =
                map.iter().map(|(key, value)| format!("{key}: {}", sorted(value))).collect();
            entries.sort();
            format!("{{{}}}", entries.join(", "))
        }
        Json::Array(items) => format!("[{}]", items.iter().map(sorted).collect::<Vec<_>>().join(", ")),
        scalar => scalar.to_string(),
    }
}

#[test]
fn marked_nodes_leave_with_the_deletion_graph() {
    let mut records = Records::new();
    records.nodes[1].pending_deletion = true;
    let all: BTreeSet<String> = records.nodes.iter().map(|node| node.id.to_string()).collect();
    let gone = |graph_type: &GraphType, on_success: Option<&JsonMap>| {
        settled(&records.nodes, &all, graph_type, on_success, false).gone
    };
    let marked = [records.nodes[1].id.to_string()];
    assert_eq!(gone(&GraphType::deletion(), None), marked);
    assert!(gone(&GraphType::default(), None).is_empty());
    assert!(gone(&GraphType::deletion(), Some(&JsonMap::new())).is_empty(), "the graph decides otherwise");
}
