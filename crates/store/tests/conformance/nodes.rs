use std::collections::BTreeMap;

use serde_json::json;
use stoker_model::{ClusterId, Micros, Node, NodeErrorKind, NodeId, NodeStatus};
use stoker_store::{AuditFilter, List, NodeCount, NodeFilter, Sighting, StoreError};

use crate::ground::{Ground, NOW, cluster, commit, map, new_node, news, node};

async fn every_field_comes_back(ground: &Ground) {
    let mut writing = ground.change().await;
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
        ..created.clone()
    };
    let changed = writing.node_update(&changed).await.unwrap();
    assert_error!(writing.node_update(&created).await, StoreError::Stale { current: 2 });
    commit(writing).await;
    let mut session = ground.read().await;
    assert_eq!(session.node_get(created.id).await.unwrap().as_ref(), Some(&changed));
    assert_eq!(session.node_by_mac("52:54:00:ab:cd:ef").await.unwrap(), Some(changed));
    assert_eq!(session.node_by_mac("52:54:00:AB:CD:EF").await.unwrap(), None);
    assert_eq!(session.node_by_mac("\0").await.unwrap(), None);
}

async fn macs_and_hostnames_in_a_cluster_are_unique(ground: &Ground) {
    let mut writing = ground.change().await;
    let (one, two) = (cluster(&mut writing, "one").await, cluster(&mut writing, "two").await);
    let named = |mac: &str| stoker_model::NewNode { hostname: Some("web".to_owned()), ..new_node(mac) };
    let first = writing.node_create(&named("01")).await.unwrap();
    assert_error!(writing.node_create(&named("01")).await, StoreError::Taken { what: "mac" });
    let second = writing.node_create(&named("02")).await.unwrap();
    let clash = Node { mac: "01".to_owned(), ..second.clone() };
    assert_error!(writing.node_update(&clash).await, StoreError::Taken { what: "mac" });
    // Free nodes may share a hostname, and so may nodes of two clusters.
    writing.node_update(&Node { cluster_id: Some(one.id), ..first }).await.unwrap();
    let joining = Node { cluster_id: Some(one.id), ..second.clone() };
    assert_error!(writing.node_update(&joining).await, StoreError::Taken { what: "hostname" });
    writing.node_update(&Node { cluster_id: Some(two.id), ..second.clone() }).await.unwrap();
    let lost = Node { cluster_id: Some(ClusterId(99)), generation: 2, ..second };
    assert_error!(writing.node_update(&lost).await, StoreError::Missing { what: "cluster" });
    commit(writing).await;
}

async fn lists_are_narrowed(ground: &Ground) {
    let mut writing = ground.change().await;
    let (one, two) = (cluster(&mut writing, "one").await, cluster(&mut writing, "two").await);
    let mut ids = Vec::new();
    for (number, cluster_id) in [Some(one.id), Some(one.id), Some(two.id), None].into_iter().enumerate() {
        let created = node(&mut writing, &format!("aa:{number}")).await;
        writing.node_update(&Node { cluster_id, ..created.clone() }).await.unwrap();
        ids.push(created.id);
    }
    commit(writing).await;
    let mut session = ground.read().await;
    let mut found = async |filter: NodeFilter| {
        let page = session.node_list(&filter, &List::default()).await.unwrap();
        page.items.into_iter().map(|node| node.id).collect::<Vec<_>>()
    };
    assert_eq!(found(NodeFilter::default()).await, ids);
    assert_eq!(found(NodeFilter { cluster: Some(Some(one.id)), ..Default::default() }).await, ids[..2]);
    assert_eq!(found(NodeFilter { cluster: Some(None), ..Default::default() }).await, ids[3..]);
    let tenant_id = Some(two.tenant_id);
    assert_eq!(found(NodeFilter { tenant_id, ..Default::default() }).await, ids[2..3]);
    let some = vec![ids[3], ids[0], NodeId(999), NodeId(i64::MIN)];
    assert_eq!(found(NodeFilter { ids: Some(some.clone()), ..Default::default() }).await, [ids[0], ids[3]]);
    assert_eq!(found(NodeFilter { ids: Some(vec![]), ..Default::default() }).await, []);
    let all = NodeFilter { cluster: Some(Some(one.id)), tenant_id: Some(one.tenant_id), ids: Some(some) };
    assert_eq!(found(all).await, ids[..1]);
}

async fn names_alone_are_of_one_cluster(ground: &Ground) {
    let mut writing = ground.change().await;
    let (one, two) = (cluster(&mut writing, "one").await, cluster(&mut writing, "two").await);
    let mut ids = Vec::new();
    for (number, cluster_id) in [Some(one.id), Some(one.id), Some(two.id), None].into_iter().enumerate() {
        let created = node(&mut writing, &format!("aa:{number}")).await;
        let named = Node { cluster_id, name: format!("web-{number}"), ..created };
        ids.push(writing.node_update(&named).await.unwrap().id);
    }
    commit(writing).await;
    let mut session = ground.read().await;
    let asked = [ids[1], ids[2], ids[3], NodeId(999)];
    let found = session.node_names(one.id, &asked).await.unwrap();
    assert_eq!(found.into_iter().collect::<Vec<_>>(), [(ids[1], "web-1".to_owned())]);
    assert!(session.node_names(one.id, &[]).await.unwrap().is_empty());
    assert!(session.node_names(ClusterId(999), &ids).await.unwrap().is_empty());
}

async fn they_are_counted_by_cluster(ground: &Ground) {
    let mut writing = ground.change().await;
    let mut clusters = Vec::new();
    for name in ["one", "two", "empty"] {
        clusters.push(cluster(&mut writing, name).await.id);
    }
    let places =
        [(Some(0), true), (Some(0), false), (Some(0), false), (Some(1), true), (None, true), (None, false)];
    for (number, (place, online)) in places.into_iter().enumerate() {
        let created = node(&mut writing, &format!("aa:{number}")).await;
        let cluster_id = place.map(|place: usize| clusters[place]);
        writing.node_update(&Node { cluster_id, online, ..created }).await.unwrap();
    }
    commit(writing).await;
    let count =
        |place: usize, n_nodes, n_online| NodeCount { cluster_id: clusters[place], n_nodes, n_online };
    let mut session = ground.read().await;
    assert_eq!(session.node_counts(&clusters).await.unwrap(), [count(0, 3, 1), count(1, 1, 1)]);
    assert_eq!(session.node_counts(&clusters[1..]).await.unwrap(), [count(1, 1, 1)]);
    assert_eq!(session.node_counts(&[]).await.unwrap(), []);
}

async fn thousands_of_ids_are_one_argument(ground: &Ground) {
    let mut writing = ground.change().await;
    let created = node(&mut writing, "aa").await;
    commit(writing).await;
    let ids = Some((1..100_000).map(NodeId).collect());
    let filter = NodeFilter { ids, ..NodeFilter::default() };
    let page = ground.read().await.node_list(&filter, &List::default()).await.unwrap();
    assert_eq!(page.items, [created]);
}

async fn deleting_tells_whether_there_was_one(ground: &Ground) {
    let mut writing = ground.change().await;
    let created = node(&mut writing, "aa").await;
    assert!(writing.node_delete(created.id).await.unwrap());
    assert!(!writing.node_delete(created.id).await.unwrap());
    assert_error!(writing.node_update(&created).await, StoreError::Missing { what: "node" });
    commit(writing).await;
    assert_eq!(ground.read().await.node_get(created.id).await.unwrap(), None);
}

async fn a_sign_of_life_is_no_change(ground: &Ground) {
    let mut writing = ground.change().await;
    let created = node(&mut writing, "aa").await;
    commit(writing).await;
    let n_entries =
        ground.read().await.audit_list(&AuditFilter::default(), &List::default()).await.unwrap().total;
    let later = NOW.plus_seconds(60);
    assert!(ground.store.node_seen(created.id, later).await.unwrap());
    assert!(!ground.store.node_seen(NodeId(99), later).await.unwrap());
    let mut session = ground.read().await;
    let seen = Node { last_seen_at: Some(later), ..created };
    assert_eq!(session.node_get(seen.id).await.unwrap(), Some(seen));
    assert_eq!(session.audit_list(&AuditFilter::default(), &List::default()).await.unwrap().total, n_entries);
}

async fn nodes_are_found_by_either_of_their_names(ground: &Ground) {
    let mut writing = ground.change().await;
    let mut one = node(&mut writing, "52:54:00:00:00:01").await;
    let two = node(&mut writing, "52:54:00:00:00:02").await;
    one.name = two.hostname.clone();
    let one = writing.node_update(&one).await.unwrap();
    assert_eq!(writing.nodes_named(&two.hostname, 9).await.unwrap(), [one.clone(), two.clone()]);
    assert_eq!(writing.nodes_named(&two.hostname, 1).await.unwrap(), [one]);
    for nobody in ["", "nobody", "\0", &"x".repeat(5000)] {
        assert_eq!(writing.nodes_named(nobody, 9).await.unwrap(), []);
    }
    commit(writing).await;
}

/// More than one statement takes, on either engine.
const N_FLEET: usize = 130;

async fn a_run_changes_nodes_together(ground: &Ground) {
    let mut writing = ground.change().await;
    let mut nodes = Vec::new();
    for number in 0..N_FLEET {
        let created = node(&mut writing, &format!("aa:{number:04}")).await;
        let ill =
            Node { error_type: Some(NodeErrorKind::Deploy), error_msg: Some("no".to_owned()), ..created };
        nodes.push(writing.node_update(&ill).await.unwrap());
    }
    let stranger = node(&mut writing, "bb").await;
    let ids: Vec<NodeId> = nodes.iter().map(|node| node.id).collect();
    writing.nodes_begin(&[]).await.unwrap();
    writing.nodes_begin(&ids).await.unwrap();
    let begun = |node: &Node| Node {
        status: NodeStatus::Deploying,
        progress: 1,
        error_type: None,
        error_msg: None,
        generation: 3,
        ..node.clone()
    };
    let nodes: Vec<Node> = nodes.iter().map(begun).collect();
    let filter = NodeFilter { ids: Some(ids.clone()), ..NodeFilter::default() };
    assert_eq!(writing.node_list(&filter, &List::default()).await.unwrap().items, nodes);
    // Who is there already has not changed.
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
    writing.nodes_end(&[]).await.unwrap();
    writing.nodes_end(&nodes).await.unwrap();
    assert_eq!(writing.node_list(&filter, &List::default()).await.unwrap().items, nodes);
    assert_eq!(writing.node_get(stranger.id).await.unwrap(), Some(stranger));
    let unstorable = Node { error_msg: Some("\0".to_owned()), ..nodes[0].clone() };
    assert_error!(writing.nodes_end(&[unstorable]).await, StoreError::Unstorable { .. });
    commit(writing).await;
}

async fn agents_are_seen_to_come_and_go(ground: &Ground) {
    let mut writing = ground.change().await;
    let (one, two) = (node(&mut writing, "aa").await, node(&mut writing, "bb").await);
    commit(writing).await;
    let later = NOW.plus_seconds(60);
    let facts = map(json!({"os": "Debian"}));
    let sighting = |online, facts| Sighting { online, facts };
    let sightings = BTreeMap::from([
        (one.id, sighting(false, Some(facts.clone()))),
        // Nothing is new: it is online already, and says nothing.
        (two.id, sighting(true, Some(map(json!({}))))),
        (NodeId(99), sighting(true, None)),
    ]);
    ground.store.nodes_sighted(&BTreeMap::new(), later, news).await.unwrap();
    ground.store.nodes_sighted(&sightings, later, news).await.unwrap();
    ground.store.nodes_sighted(&sightings, later.plus_seconds(1), news).await.unwrap();
    let mut session = ground.read().await;
    let seen = Node { online: false, facts, last_seen_at: Some(later), generation: 2, ..one };
    assert_eq!(session.node_get(seen.id).await.unwrap(), Some(seen.clone()));
    assert_eq!(session.node_get(two.id).await.unwrap(), Some(two));
    let back = BTreeMap::from([(seen.id, sighting(true, None))]);
    ground.store.nodes_sighted(&back, later, news).await.unwrap();
    let back = Node { online: true, generation: 3, ..seen };
    assert_eq!(session.node_get(back.id).await.unwrap(), Some(back));
}

on_both![
    a_run_changes_nodes_together,
    a_sign_of_life_is_no_change,
    agents_are_seen_to_come_and_go,
    deleting_tells_whether_there_was_one,
    every_field_comes_back,
    lists_are_narrowed,
    macs_and_hostnames_in_a_cluster_are_unique,
    names_alone_are_of_one_cluster,
    nodes_are_found_by_either_of_their_names,
    they_are_counted_by_cluster,
    thousands_of_ids_are_one_argument,
];
