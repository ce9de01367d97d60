use serde_json::json;
use stoker_model::{
    Cluster, ClusterId, ClusterPlugin, ClusterStatus, FactsKind, MergeMode, MergeOrder, Owner, ReleaseId,
    TenantId,
};
use stoker_store::{ClusterFilter, List, StoreError};

use crate::fixture::{
    Fixture, NOW, cluster, commit, graph_type, map, n_rows, new_cluster, node, plugin, release, run, task,
    tenant,
};

async fn all_fields_round_trip(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let created = cluster(&mut writing, "c").await;
    assert_eq!((created.generation, created.status, created.created_at), (1, ClusterStatus::New, NOW));
    assert_eq!(writing.cluster_get(created.id).await.unwrap().as_ref(), Some(&created));
    let changed = Cluster {
        status: ClusterStatus::PartiallyDeployed,
        ui_settings: map(json!({"view": "x"})),
        roles_metadata: map(json!({"r": {}})),
        tags_metadata: map(json!({"t": {}})),
        volumes_roles_mapping: map(json!({"r": []})),
        extensions: vec!["e".to_owned()],
        is_customized: true,
        is_locked: true,
        merge_order: Some(MergeOrder::ReleasePluginsCluster),
        merge_mode: Some(MergeMode::Replace),
        ..created.clone()
    };
    let changed = writing.cluster_update(&changed).await.unwrap();
    assert_error!(writing.cluster_update(&created).await, StoreError::Stale { current: 2 });
    commit(writing).await;
    let mut session = fixture.read().await;
    assert_eq!(session.cluster_get(created.id).await.unwrap(), Some(changed));
    assert_eq!(session.cluster_get(ClusterId(55)).await.unwrap(), None);
}

async fn names_are_unique_and_parents_must_exist(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let (one, two) = (cluster(&mut writing, "one").await, cluster(&mut writing, "two").await);
    let tenant = writing.tenant_get(one.tenant_id).await.unwrap().unwrap();
    let release = writing.release_get(one.release_id).await.unwrap().unwrap();
    let again = new_cluster(&tenant, &release, "two");
    assert_error!(writing.cluster_create(&again).await, StoreError::AlreadyExists { what: "cluster name" });
    let clash = Cluster { name: "one".to_owned(), ..two.clone() };
    assert_error!(writing.cluster_update(&clash).await, StoreError::AlreadyExists { .. });
    let mut orphan = new_cluster(&tenant, &release, "three");
    orphan.release_id = ReleaseId(99);
    assert_error!(writing.cluster_create(&orphan).await, StoreError::NotFound { what: "release" });
    let moved = Cluster { tenant_id: TenantId(99), ..two.clone() };
    assert_error!(writing.cluster_update(&moved).await, StoreError::NotFound { what: "tenant" });
    let unknown = Cluster { id: ClusterId(99), name: "x".to_owned(), ..two };
    assert_error!(writing.cluster_update(&unknown).await, StoreError::NotFound { what: "cluster" });
    commit(writing).await;
}

async fn list_filters_by_tenant_and_release(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let (red, blue) = (tenant(&mut writing, "red").await, tenant(&mut writing, "blue").await);
    let (old, new) = (release(&mut writing, "old").await, release(&mut writing, "new").await);
    for (tenant, release, name) in [(&red, &old, "a"), (&red, &new, "b"), (&blue, &new, "c")] {
        writing.cluster_create(&new_cluster(tenant, release, name)).await.unwrap();
    }
    commit(writing).await;
    let mut session = fixture.read().await;
    let mut names = async |tenant_id, release_id| {
        let filter = ClusterFilter { tenant_id, release_id };
        let page = session.cluster_list(&filter, &List::default()).await.unwrap();
        page.items.into_iter().map(|cluster| cluster.name).collect::<String>()
    };
    assert_eq!(names(None, None).await, "abc");
    assert_eq!(names(Some(red.id), None).await, "ab");
    assert_eq!(names(None, Some(new.id)).await, "bc");
    assert_eq!(names(Some(blue.id), Some(old.id)).await, "");
}

async fn deleting_cluster_unassigns_nodes_and_deletes_its_records(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let cluster = cluster(&mut writing, "c").await;
    let plugin = plugin(&mut writing, "p").await;
    let mut member = node(&mut writing, "aa:01").await;
    member.cluster_id = Some(cluster.id);
    member.roles = vec!["controller".to_owned()];
    member.pending_roles = vec!["compute".to_owned()];
    member.pending_addition = true;
    let member = writing.node_update(&member).await.unwrap();
    let tasks = [task("a", json!({}))];
    let owner = Owner::Cluster(cluster.id);
    let graph = writing.graph_create(owner, &graph_type("t"), &Default::default(), &tasks).await.unwrap();
    let link = ClusterPlugin { plugin_id: plugin.id, enabled: true, attributes: map(json!({})) };
    writing.cluster_plugin_set(cluster.id, &link).await.unwrap();
    writing.facts_put(cluster.id, FactsKind::Deployment, &[("1".to_owned(), json!(1))]).await.unwrap();
    let mut deployment = run(&mut writing, "u").await;
    deployment.cluster_id = Some(cluster.id);
    let deployment = writing.run_update(&deployment).await.unwrap();
    assert!(writing.cluster_delete(cluster.id).await.unwrap());
    assert!(!writing.cluster_delete(cluster.id).await.unwrap());
    commit(writing).await;
    let mut session = fixture.read().await;
    let freed = session.node_get(member.id).await.unwrap().unwrap();
    assert_eq!((freed.cluster_id, freed.generation), (None, member.generation + 1));
    assert!(freed.roles.is_empty() && freed.pending_roles.is_empty() && !freed.pending_addition);
    assert_eq!(session.graph_get(graph.id).await.unwrap(), None);
    assert_eq!(session.plugin_clusters(plugin.id).await.unwrap(), []);
    assert_eq!(session.facts_get(cluster.id, FactsKind::Deployment).await.unwrap(), []);
    assert_eq!(session.run_get(deployment.id).await.unwrap().unwrap().cluster_id, None);
    for table in ["deployment_graphs", "deployment_graph_tasks"] {
        assert_eq!(n_rows(fixture, table).await, 0, "{table}");
    }
}

on_both![
    all_fields_round_trip,
    deleting_cluster_unassigns_nodes_and_deletes_its_records,
    list_filters_by_tenant_and_release,
    names_are_unique_and_parents_must_exist,
];
