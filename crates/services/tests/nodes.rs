//! Reports, updates and assignment of nodes.

use serde_json::json;
use stoker_manifest::reader::FieldUpdate;
use stoker_model::{Actor, Cluster, JsonMap, NewNode, Node, NodeId};
use stoker_services::clusters::{Removal, cluster_create, nodes_assign, nodes_unassign};
use stoker_services::nodes::{NodeReport, NodeUpdate, node_report, node_update_all, nodes_named};
use stoker_services::{Clock, ServiceError};

use crate::support::{Fixture, invalid};

const MAC: &str = "52:54:00:00:00:01";

async fn node(fixture: &Fixture) -> Node {
    let new = NewNode {
        mac: MAC.to_owned(),
        ip: None,
        name: None,
        hostname: None,
        manufacturer: None,
        platform_name: None,
        os_platform: None,
        labels: JsonMap::new(),
        meta: JsonMap::new(),
        facts: JsonMap::new(),
    };
    let mut writing = fixture.change().await;
    let node = writing.node_create(&new).await.expect("the store accepts valid records");
    let change =
        stoker_model::AuditChange { action: "node.create", target: "node".to_owned(), detail: json!({}) };
    writing.commit(change).await.expect("the store accepts valid records");
    node
}

async fn cluster(fixture: &Fixture) -> Cluster {
    cluster_create(&fixture.settings, fixture.change().await, fixture.request("a"))
        .await
        .expect("the store accepts valid records")
        .0
}

#[tokio::test]
async fn reports_identify_their_node_and_are_stored_once() {
    let fixture = Fixture::new().await;
    let report = async |report| node_report(&fixture.store, Clock, &Actor::server(), &report).await;
    let nameless = report(NodeReport::default()).await.err().unwrap();
    assert_eq!(invalid(nameless).message, "missing node: specify `id` or `mac`");
    let unknown = NodeReport { id: Some(NodeId(7)), ..NodeReport::default() };
    assert!(matches!(report(unknown).await.err().unwrap(), ServiceError::NotFound(_)));

    let node = node(&fixture).await;
    let content = || NodeReport {
        mac: Some(MAC.to_owned()),
        checksum: Some("c1".to_owned()),
        ip: FieldUpdate::Value("10.0.0.7".to_owned()),
        ..NodeReport::default()
    };
    assert!(!report(content()).await.unwrap().is_cached);
    let stored = fixture.store.read().await.unwrap().node_get(node.id).await.unwrap().unwrap();
    assert_eq!((stored.ip.as_deref(), stored.online), (Some("10.0.0.7"), true));
    assert!(report(content()).await.unwrap().is_cached);
    let again = fixture.store.read().await.unwrap().node_get(node.id).await.unwrap().unwrap();
    assert_eq!(again.generation, stored.generation, "a repeated report changes nothing");
}

#[tokio::test]
async fn invalid_assignments_are_reported_together() {
    let fixture = Fixture::new().await;
    let (cluster, node) = (cluster(&fixture).await, node(&fixture).await);
    let assign = async |roles: &[&str]| {
        let roles = roles.iter().map(|role| (*role).to_owned()).collect();
        nodes_assign(&fixture.settings, fixture.change().await, &cluster, vec![(node.id, roles)]).await
    };
    let report = invalid(assign(&["compute", "controller", "painter"]).await.unwrap_err());
    let paths: Vec<&str> =
        report.diagnostics.iter().map(|diagnostic| diagnostic.location.path.as_str()).collect();
    assert_eq!(paths, ["[0].roles"; 2], "an unknown role and a conflict: {report}");
    let missing =
        nodes_assign(&fixture.settings, fixture.change().await, &cluster, vec![(NodeId(99), Vec::new())])
            .await;
    assert_eq!(invalid(missing.unwrap_err()).message, "Nodes with ids 99 were not found.");

    assign(&["compute"]).await.unwrap();
    let stored = fixture.store.read().await.unwrap().node_get(node.id).await.unwrap().unwrap();
    assert_eq!((stored.cluster_id, &*stored.pending_roles), (Some(cluster.id), &["compute".to_owned()][..]));
    nodes_unassign(fixture.change().await, &cluster, &[node.id], Removal::WithNextRun).await.unwrap();
    let error =
        nodes_unassign(fixture.change().await, &cluster, &[node.id], Removal::WithNextRun).await.unwrap_err();
    assert!(invalid(error).message.ends_with("are not members of cluster 1"));
}

#[tokio::test]
async fn bulk_update_is_atomic() {
    let fixture = Fixture::new().await;
    let node = node(&fixture).await;
    let rename = |id| NodeUpdate { id, name: Some("renamed".to_owned()), ..NodeUpdate::default() };
    let updates = vec![rename(Some(node.id)), rename(None)];
    let mut writing = fixture.change().await;
    let error = nodes_named(&mut writing, &updates).await.unwrap_err();
    drop(writing);
    assert_eq!(invalid(error).message, "entry 1: MAC or ID is not specified");
    let invalid_update = NodeUpdate { roles: Some(vec!["none".to_owned()]), ..rename(Some(node.id)) };
    let updates = vec![(node.clone(), invalid_update)];
    let error = node_update_all(&fixture.settings, fixture.change().await, updates).await.unwrap_err();
    assert!(invalid(error).message.contains("has no cluster"));
    let stored = fixture.store.read().await.unwrap().node_get(node.id).await.unwrap().unwrap();
    assert_eq!(stored.name, node.name);
}
