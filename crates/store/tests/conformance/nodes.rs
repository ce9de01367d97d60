use std::collections::BTreeMap;

use serde_json::json;
use stoker_model::{ClusterId, Micros, Node, NodeErrorKind, NodeFacts, NodeId, NodeStatus};
use stoker_store::{AuditFilter, List, NodeCount, NodeFilter, PresenceUpdate, StoreError};

use crate::fixture::{Fixture, NOW, cluster, commit, connection_notification, map, new_node, node};

async fn all_fields_round_trip(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let cluster = cluster(&mut writing, "c").await;
    let created = node(&mut writing, "52:54:00:ab:cd:ef").await;
    assert_eq!(created.name, "Untitled (cd:ef)");
    assert_eq!(created.hostname, format!("node-{}", created.id));
    assert!(created.online && created.status == NodeStatus::Discover && created.created_at == NOW);
    assert_eq!(writing.node_get(created.id).await.unwrap().as_ref(), Some(&created));
    let changed = Node {
        cluster_id: Some(cluster.id),
        name: "one".to_owned(),
        ip: None,
        status: NodeStatus::Error,
        online: false,
        roles: vec!["controller".to_owned()],
        pending_roles: vec!["compute".to_owned()],
        pending_addition: true,
        pending_deletion: true,
        error_type: Some(NodeErrorKind::StopDeployment),
        error_msg: Some("no".to_owned()),
        progress: i64::MIN,
        group_id: Some(i64::MAX),
        kernel_params: Some("quiet".to_owned()),
        attributes: map(json!({"hugepages": {}})),
        agent_checksum: Some("abc".to_owned()),
        last_seen_at: Some(Micros(-5)),
        instance_options: map(json!({"flavorRef": "7"})),
        ..created.clone()
    };
    let changed = writing.node_update(&changed).await.unwrap();
    assert_error!(writing.node_update(&created).await, StoreError::Stale { current: 2 });
    commit(writing).await;
    let mut session = fixture.read().await;
    assert_eq!(session.node_get(created.id).await.unwrap().as_ref(), Some(&changed));
    assert_eq!(session.node_by_mac("52:54:00:ab:cd:ef").await.unwrap(), Some(changed));
    assert_eq!(session.node_by_mac("52:54:00:AB:CD:EF").await.unwrap(), None);
    assert_eq!(session.node_by_mac("\0").await.unwrap(), None);
}

async fn macs_and_hostnames_in_a_cluster_are_unique(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let (one, two) = (cluster(&mut writing, "one").await, cluster(&mut writing, "two").await);
    let named = |mac: &str| stoker_model::NewNode { hostname: Some("web".to_owned()), ..new_node(mac) };
    let first = writing.node_create(&named("01")).await.unwrap();
    assert_error!(writing.node_create(&named("01")).await, StoreError::AlreadyExists { what: "mac" });
    let second = writing.node_create(&named("02")).await.unwrap();
    let clash = Node { mac: "01".to_owned(), ..second.clone() };
    assert_error!(writing.node_update(&clash).await, StoreError::AlreadyExists { what: "mac" });
    // Unassigned nodes may share a hostname, and so may nodes of different clusters.
    writing.node_update(&Node { cluster_id: Some(one.id), ..first }).await.unwrap();
    let joining = Node { cluster_id: Some(one.id), ..second.clone() };
    assert_error!(writing.node_update(&joining).await, StoreError::AlreadyExists { what: "hostname" });
    writing.node_update(&Node { cluster_id: Some(two.id), ..second.clone() }).await.unwrap();
    let lost = Node { cluster_id: Some(ClusterId(99)), generation: 2, ..second };
    assert_error!(writing.node_update(&lost).await, StoreError::NotFound { what: "cluster" });
    commit(writing).await;
}

async fn list_filters(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let (one, two) = (cluster(&mut writing, "one").await, cluster(&mut writing, "two").await);
    let mut ids = Vec::new();
    for (number, cluster_id) in [Some(one.id), Some(one.id), Some(two.id), None].into_iter().enumerate() {
        let created = node(&mut writing, &format!("aa:{number}")).await;
        let pending_deletion = number == 1;
        writing.node_update(&Node { cluster_id, pending_deletion, ..created.clone() }).await.unwrap();
        ids.push(created.id);
    }
    commit(writing).await;
    let mut session = fixture.read().await;
    let mut list = async |filter: NodeFilter| {
        let page = session.node_list(&filter, &List::default()).await.unwrap();
        page.items.into_iter().map(|node| node.id).collect::<Vec<_>>()
    };
    assert_eq!(list(NodeFilter::default()).await, ids);
    assert_eq!(list(NodeFilter { cluster: Some(Some(one.id)), ..Default::default() }).await, ids[..2]);
    assert_eq!(list(NodeFilter { cluster: Some(None), ..Default::default() }).await, ids[3..]);
    let tenant_id = Some(two.tenant_id);
    assert_eq!(list(NodeFilter { tenant_id, ..Default::default() }).await, ids[2..3]);
    let some = vec![ids[3], ids[0], NodeId(999), NodeId(i64::MIN)];
    assert_eq!(list(NodeFilter { ids: Some(some.clone()), ..Default::default() }).await, [ids[0], ids[3]]);
    assert_eq!(list(NodeFilter { ids: Some(vec![]), ..Default::default() }).await, []);
    assert_eq!(list(NodeFilter { pending_deletion: true, ..Default::default() }).await, ids[1..2]);
    let all = NodeFilter {
        cluster: Some(Some(one.id)),
        tenant_id: Some(one.tenant_id),
        ids: Some(some),
        pending_deletion: false,
    };
    assert_eq!(list(all).await, ids[..1]);
}

async fn node_names_are_limited_to_the_cluster(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let (one, two) = (cluster(&mut writing, "one").await, cluster(&mut writing, "two").await);
    let mut ids = Vec::new();
    for (number, cluster_id) in [Some(one.id), Some(one.id), Some(two.id), None].into_iter().enumerate() {
        let created = node(&mut writing, &format!("aa:{number}")).await;
        let named = Node { cluster_id, name: format!("web-{number}"), ..created };
        ids.push(writing.node_update(&named).await.unwrap().id);
    }
    commit(writing).await;
    let mut session = fixture.read().await;
    let requested = [ids[1], ids[2], ids[3], NodeId(999)];
    let names = session.node_names(one.id, &requested).await.unwrap();
    assert_eq!(names.into_iter().collect::<Vec<_>>(), [(ids[1], "web-1".to_owned())]);
    assert!(session.node_names(one.id, &[]).await.unwrap().is_empty());
    assert!(session.node_names(ClusterId(999), &ids).await.unwrap().is_empty());
}

async fn nodes_are_counted_per_cluster(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let mut clusters = Vec::new();
    for name in ["one", "two", "empty"] {
        clusters.push(cluster(&mut writing, name).await.id);
    }
    let placements =
        [(Some(0), true), (Some(0), false), (Some(0), false), (Some(1), true), (None, true), (None, false)];
    for (number, (cluster_idx, online)) in placements.into_iter().enumerate() {
        let created = node(&mut writing, &format!("aa:{number}")).await;
        let cluster_id = cluster_idx.map(|cluster_idx: usize| clusters[cluster_idx]);
        writing.node_update(&Node { cluster_id, online, ..created }).await.unwrap();
    }
    commit(writing).await;
    let count = |cluster_idx: usize, n_nodes, n_online| NodeCount {
        cluster_id: clusters[cluster_idx],
        n_nodes,
        n_online,
    };
    let mut session = fixture.read().await;
    assert_eq!(session.node_counts(&clusters).await.unwrap(), [count(0, 3, 1), count(1, 1, 1)]);
    assert_eq!(session.node_counts(&clusters[1..]).await.unwrap(), [count(1, 1, 1)]);
    assert_eq!(session.node_counts(&[]).await.unwrap(), []);
}

async fn list_by_many_ids(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let created = node(&mut writing, "aa").await;
    commit(writing).await;
    let ids = Some((1..100_000).map(NodeId).collect());
    let filter = NodeFilter { ids, ..NodeFilter::default() };
    let page = fixture.read().await.node_list(&filter, &List::default()).await.unwrap();
    assert_eq!(page.items, [created]);
}

async fn delete_reports_whether_the_node_existed(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let created = node(&mut writing, "aa").await;
    assert!(writing.node_delete(created.id).await.unwrap());
    assert!(!writing.node_delete(created.id).await.unwrap());
    assert_error!(writing.node_update(&created).await, StoreError::NotFound { what: "node" });
    commit(writing).await;
    assert_eq!(fixture.read().await.node_get(created.id).await.unwrap(), None);
}

async fn heartbeat_changes_no_generation_or_audit_log(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let created = node(&mut writing, "aa").await;
    commit(writing).await;
    let n_entries =
        fixture.read().await.audit_list(&AuditFilter::default(), &List::default()).await.unwrap().total;
    let later = NOW.plus_seconds(60);
    assert!(fixture.store.node_heartbeat(created.id, later).await.unwrap());
    assert!(!fixture.store.node_heartbeat(NodeId(99), later).await.unwrap());
    let mut session = fixture.read().await;
    let seen = Node { last_seen_at: Some(later), ..created };
    assert_eq!(session.node_get(seen.id).await.unwrap(), Some(seen));
    assert_eq!(session.audit_list(&AuditFilter::default(), &List::default()).await.unwrap().total, n_entries);
}

async fn nodes_are_found_by_name_or_hostname(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let mut one = node(&mut writing, "52:54:00:00:00:01").await;
    let two = node(&mut writing, "52:54:00:00:00:02").await;
    one.name = two.hostname.clone();
    let one = writing.node_update(&one).await.unwrap();
    assert_eq!(writing.nodes_by_name(&two.hostname, 9).await.unwrap(), [one.clone(), two.clone()]);
    assert_eq!(writing.nodes_by_name(&two.hostname, 1).await.unwrap(), [one]);
    for unknown in ["", "unknown", "\0", &"x".repeat(5000)] {
        assert_eq!(writing.nodes_by_name(unknown, 9).await.unwrap(), []);
    }
    commit(writing).await;
}

/// Number of nodes that exceeds the capacity of one statement on either engine.
const N_FLEET: usize = 130;

async fn run_updates_nodes_in_bulk(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let mut nodes = Vec::new();
    for number in 0..N_FLEET {
        let created = node(&mut writing, &format!("aa:{number:04}")).await;
        let failed =
            Node { error_type: Some(NodeErrorKind::Deploy), error_msg: Some("no".to_owned()), ..created };
        nodes.push(writing.node_update(&failed).await.unwrap());
    }
    let unrelated = node(&mut writing, "bb").await;
    let ids: Vec<NodeId> = nodes.iter().map(|node| node.id).collect();
    writing.nodes_start_deploying(&[]).await.unwrap();
    writing.nodes_start_deploying(&ids).await.unwrap();
    let deploying = |node: &Node| Node {
        status: NodeStatus::Deploying,
        progress: 1,
        error_type: None,
        error_msg: None,
        generation: 3,
        ..node.clone()
    };
    let nodes: Vec<Node> = nodes.iter().map(deploying).collect();
    let filter = NodeFilter { ids: Some(ids.clone()), ..NodeFilter::default() };
    assert_eq!(writing.node_list(&filter, &List::default()).await.unwrap().items, nodes);
    // Nodes that have this progress already are not written.
    writing.nodes_progress(&ids, 1).await.unwrap();
    writing.nodes_progress(&ids[..2], 40).await.unwrap();
    let progress = writing.node_get(ids[1]).await.unwrap().unwrap();
    assert_eq!((progress.progress, progress.generation), (40, 4));
    assert_eq!(writing.node_get(ids[2]).await.unwrap().as_ref(), Some(&nodes[2]));
    let ended = |(number, node): (usize, &Node)| Node {
        status: if number % 2 == 0 { NodeStatus::Ready } else { NodeStatus::Error },
        roles: vec!["a".to_owned(), "\"b\"".to_owned()],
        pending_addition: number % 3 == 0,
        error_type: (number % 2 == 1).then_some(NodeErrorKind::Deploy),
        error_msg: (number % 2 == 1).then(|| "it's over".to_owned()),
        progress: 100,
        generation: if number < 2 { 5 } else { 4 },
        ..node.clone()
    };
    let nodes: Vec<Node> = nodes.iter().enumerate().map(ended).collect();
    writing.nodes_put_outcome(&[]).await.unwrap();
    writing.nodes_put_outcome(&nodes).await.unwrap();
    assert_eq!(writing.node_list(&filter, &List::default()).await.unwrap().items, nodes);
    assert_eq!(writing.node_get(unrelated.id).await.unwrap(), Some(unrelated));
    let unstorable = Node { error_msg: Some("\0".to_owned()), ..nodes[0].clone() };
    assert_error!(writing.nodes_put_outcome(&[unstorable]).await, StoreError::Unstorable { .. });
    commit(writing).await;
}

async fn agent_connections_update_nodes(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let (one, two) = (node(&mut writing, "aa").await, node(&mut writing, "bb").await);
    commit(writing).await;
    let later = NOW.plus_seconds(60);
    let facts = map(json!({"os": "Debian"}));
    let sighting = |online, facts| PresenceUpdate { online, facts };
    let sightings = BTreeMap::from([
        (one.id, sighting(false, Some(facts.clone()))),
        // This node does not change: it is already online and sends no facts.
        (two.id, sighting(true, Some(map(json!({}))))),
        (NodeId(99), sighting(true, None)),
    ]);
    fixture.store.nodes_update_presence(&BTreeMap::new(), later, connection_notification).await.unwrap();
    fixture.store.nodes_update_presence(&sightings, later, connection_notification).await.unwrap();
    fixture
        .store
        .nodes_update_presence(&sightings, later.plus_seconds(1), connection_notification)
        .await
        .unwrap();
    let mut session = fixture.read().await;
    let seen = Node { online: false, facts, last_seen_at: Some(later), generation: 2, ..one };
    assert_eq!(session.node_get(seen.id).await.unwrap(), Some(seen.clone()));
    assert_eq!(session.node_get(two.id).await.unwrap(), Some(two));
    let back = BTreeMap::from([(seen.id, sighting(true, None))]);
    fixture.store.nodes_update_presence(&back, later, connection_notification).await.unwrap();
    let back = Node { online: true, generation: 3, ..seen };
    assert_eq!(session.node_get(back.id).await.unwrap(), Some(back));
}

async fn reported_facts_keep_uploaded_ones(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let (one, two) = (node(&mut writing, "aa").await, node(&mut writing, "bb").await);
    let of_one = |reported: serde_json::Value| NodeFacts {
        node_id: one.id,
        uploaded: map(json!({"net": {"routes": [1]}, "rack": 7})),
        reported: map(reported),
    };
    writing.node_facts_put(&of_one(json!({}))).await.unwrap();
    let dangling = NodeFacts { node_id: NodeId(99), ..of_one(json!({})) };
    commit(writing).await;
    assert!(fixture.change().await.node_facts_put(&dangling).await.is_err());
    for reported in [json!({"net": {"routes": [2], "mtu": 9000}, "os": "Debian"}), json!({"os": "Rocky"})] {
        let update = PresenceUpdate { online: true, facts: Some(map(reported.clone())) };
        let sightings = BTreeMap::from([(one.id, update.clone()), (two.id, update)]);
        fixture.store.nodes_update_presence(&sightings, NOW, connection_notification).await.unwrap();
        let mut session = fixture.read().await;
        let facts = session.node_facts(&[one.id, two.id]).await.unwrap();
        assert_eq!(facts.into_values().collect::<Vec<_>>(), [of_one(reported.clone())]);
        let merged = session.node_get(one.id).await.unwrap().unwrap().facts;
        assert_eq!(merged, of_one(reported.clone()).merged());
        assert_eq!((&merged["net"]["routes"], &merged["rack"]), (&json!([1]), &json!(7)));
        assert_eq!(session.node_get(two.id).await.unwrap().unwrap().facts, map(reported));
    }
    let mut writing = fixture.change().await;
    assert!(writing.node_delete(one.id).await.unwrap());
    assert!(writing.node_facts(&[one.id]).await.unwrap().is_empty());
    commit(writing).await;
}

on_both![
    agent_connections_update_nodes,
    all_fields_round_trip,
    delete_reports_whether_the_node_existed,
    heartbeat_changes_no_generation_or_audit_log,
    list_by_many_ids,
    list_filters,
    macs_and_hostnames_in_a_cluster_are_unique,
    node_names_are_limited_to_the_cluster,
    nodes_are_counted_per_cluster,
    nodes_are_found_by_name_or_hostname,
    reported_facts_keep_uploaded_ones,
    run_updates_nodes_in_bulk,
];
