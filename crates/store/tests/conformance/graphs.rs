use serde_json::json;
use stoker_model::{
    ClusterId, Graph, GraphId, GraphMetadata, OnDefinitionChange, Owner, PluginId, ReleaseId, Task,
};
use stoker_store::{GraphFilter, List, SortOrder, StoreError};

use crate::fixture::{Fixture, cluster, commit, graph_type, map, plugin, release, task};

pub(crate) fn plain(names: &[&str]) -> Vec<Task> {
    names.iter().map(|name| task(name, json!({"type": "puppet", "version": "2.0.0"}))).collect()
}

fn names(graph: &Graph) -> String {
    graph.tasks.iter().map(|stored| stored.task.name.as_str()).collect()
}

fn metadata() -> GraphMetadata {
    GraphMetadata {
        name: Some("usecase 1".to_owned()),
        node_filter: Some("$.status = ready".to_owned()),
        on_definition_change: Some(OnDefinitionChange::Keep),
        on_success: Some(map(json!({"node_attributes": {"status": "ready"}}))),
        on_error: Some(map(json!({}))),
        on_stop: None,
    }
}

async fn graphs_of_all_owner_kinds_round_trip(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let cluster = cluster(&mut writing, "c").await;
    let owners = [
        Owner::Release(release(&mut writing, "r").await.id),
        Owner::Cluster(cluster.id),
        Owner::Plugin(plugin(&mut writing, "p").await.id),
    ];
    let kind = graph_type("default");
    for owner in owners {
        let created = writing.graph_create(owner, &kind, &metadata(), &plain(&["b", "a"])).await.unwrap();
        assert_eq!((created.generation, created.owner, names(&created).as_str()), (1, owner, "ba"));
        assert_eq!(writing.graph_get(created.id).await.unwrap().as_ref(), Some(&created));
        assert_eq!(writing.graph_find(owner, &kind).await.unwrap(), Some(created));
        assert_eq!(writing.graph_find(owner, &graph_type("other")).await.unwrap(), None);
    }
    commit(writing).await;
    let mut session = fixture.read().await;
    for owner in owners {
        let graph = session.graph_find(owner, &kind).await.unwrap().unwrap();
        assert_eq!(graph.metadata, metadata());
        // The second read comes from the cache.
        assert_eq!(session.graph_get(graph.id).await.unwrap().as_ref(), Some(&graph));
        assert_eq!(fixture.store.snapshot().await.unwrap().graph_get(graph.id).await.unwrap(), Some(graph));
    }
    assert_eq!(session.graph_get(GraphId(i64::MAX)).await.unwrap(), None);
}

async fn graph_type_is_unique_and_owner_must_exist(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let owner = Owner::Release(release(&mut writing, "r").await.id);
    let other = Owner::Release(release(&mut writing, "s").await.id);
    let (kind, none) = (graph_type("t"), GraphMetadata::default());
    writing.graph_create(owner, &kind, &none, &[]).await.unwrap();
    let again = writing.graph_create(owner, &kind, &none, &plain(&["a"])).await;
    assert_error!(again, StoreError::AlreadyExists { what: "graph type" });
    writing.graph_create(other, &kind, &none, &[]).await.unwrap();
    let twice = writing.graph_create(owner, &graph_type("u"), &none, &plain(&["a", "b", "a"])).await;
    assert_error!(twice, StoreError::AlreadyExists { what: "task name" });
    for (missing_owner, expected) in [
        (Owner::Release(ReleaseId(99)), "release"),
        (Owner::Cluster(ClusterId(99)), "cluster"),
        (Owner::Plugin(PluginId(99)), "plugin"),
    ] {
        let orphan = writing.graph_create(missing_owner, &kind, &none, &[]).await;
        assert_error!(orphan, StoreError::NotFound { what } if what == expected);
    }
    commit(writing).await;
    // Rejected writes leave no rows behind.
    let all = fixture.read().await.graph_list(&GraphFilter::default(), &List::default()).await.unwrap();
    assert_eq!(all.total, 2);
    assert!(all.items.iter().all(|graph| graph.tasks.is_empty()));
}

async fn list_filters_by_owners_and_types(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let cluster = cluster(&mut writing, "c").await;
    let (r, c) = (Owner::Release(cluster.release_id), Owner::Cluster(cluster.id));
    let p = Owner::Plugin(plugin(&mut writing, "p").await.id);
    let none = GraphMetadata::default();
    let mut ids = Vec::new();
    for (owner, kind) in [(r, "a"), (r, "b"), (c, "a"), (p, "b")] {
        let tasks = plain(&[kind, "x"]);
        ids.push(writing.graph_create(owner, &graph_type(kind), &none, &tasks).await.unwrap().id);
    }
    commit(writing).await;
    let mut session = fixture.read().await;
    let mut list = async |owners: Option<&[Owner]>, types: Option<&[&str]>| {
        let types = types.map(|types| types.iter().map(|name| graph_type(name)).collect());
        let filter = GraphFilter { owners: owners.map(<[Owner]>::to_vec), types };
        let page = session.graph_list(&filter, &List::default()).await.unwrap();
        assert_eq!(page.total, page.items.len() as u64);
        for graph in &page.items {
            assert_eq!(names(graph), format!("{}x", graph.graph_type));
        }
        page.items.into_iter().map(|graph| graph.id).collect::<Vec<_>>()
    };
    assert_eq!(list(None, None).await, ids);
    assert_eq!(list(Some(&[r]), None).await, ids[..2]);
    assert_eq!(list(Some(&[p, c]), None).await, ids[2..]);
    assert_eq!(list(Some(&[r, c, p]), Some(&["b"])).await, [ids[1], ids[3]]);
    assert_eq!(list(None, Some(&["a"])).await, [ids[0], ids[2]]);
    assert_eq!(list(Some(&[]), None).await, []);
    assert_eq!(list(None, Some(&[])).await, []);
    // Release and cluster ids are separate namespaces.
    assert_eq!(list(Some(&[Owner::Cluster(ClusterId(999))]), None).await, []);
    let order_by = vec![SortOrder { field: "type".to_owned(), descending: true }];
    let list = List { limit: Some(2), offset: 1, order_by };
    let page = session.graph_list(&GraphFilter::default(), &list).await.unwrap();
    assert_eq!(page.total, 4);
    assert_eq!(page.items.iter().map(|graph| graph.id).collect::<Vec<_>>(), [ids[3], ids[0]]);
}

async fn metadata_and_tasks_change_independently(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let owner = Owner::Release(release(&mut writing, "r").await.id);
    let created =
        writing.graph_create(owner, &graph_type("t"), &metadata(), &plain(&["a", "b"])).await.unwrap();
    let named = GraphMetadata { name: None, on_stop: Some(map(json!({"x": 1}))), ..metadata() };
    let changed = writing.graph_update(created.id, 1, &named, None).await.unwrap();
    assert_eq!(changed, Graph { generation: 2, metadata: named.clone(), ..created.clone() });
    let fewer = writing.graph_update(created.id, 2, &named, Some(&plain(&["b"]))).await.unwrap();
    assert_eq!((fewer.generation, fewer.tasks[0].id), (3, created.tasks[1].id));
    let empty = writing.graph_update(created.id, 3, &named, Some(&[])).await.unwrap();
    assert_eq!((empty.generation, empty.tasks.len()), (4, 0));
    commit(writing).await;
    assert_eq!(fixture.read().await.graph_get(created.id).await.unwrap(), Some(empty));
}

async fn update_requires_current_generation(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let owner = Owner::Release(release(&mut writing, "r").await.id);
    let none = GraphMetadata::default();
    let id = writing.graph_create(owner, &graph_type("t"), &none, &plain(&["a"])).await.unwrap().id;
    writing.graph_update(id, 1, &metadata(), None).await.unwrap();
    let stale = writing.graph_update(id, 1, &none, Some(&plain(&["b"]))).await;
    assert_error!(stale, StoreError::Stale { current: 2 });
    assert_error!(writing.graph_update(id, 3, &none, None).await, StoreError::Stale { current: 2 });
    // A stale generation fails even if the update would change nothing.
    assert_error!(writing.graph_update(id, 1, &metadata(), None).await, StoreError::Stale { current: 2 });
    let unknown = writing.graph_update(GraphId(99), 1, &none, None).await;
    assert_error!(unknown, StoreError::NotFound { what: "graph" });
    let twice = writing.graph_update(id, 2, &none, Some(&plain(&["a", "a"]))).await;
    assert_error!(twice, StoreError::AlreadyExists { what: "task name" });
    commit(writing).await;
    let graph = fixture.read().await.graph_get(id).await.unwrap().unwrap();
    assert_eq!((graph.generation, names(&graph).as_str()), (2, "a"));
}

async fn graph_and_task_deletion(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let owner = Owner::Release(release(&mut writing, "r").await.id);
    let (kind, none) = (graph_type("t"), GraphMetadata::default());
    let created = writing.graph_create(owner, &kind, &none, &plain(&["a", "b", "c"])).await.unwrap();
    let fewer = writing.graph_task_delete(created.id, 1, "b").await.unwrap();
    assert_eq!((fewer.generation, names(&fewer).as_str()), (2, "ac"));
    assert_eq!([fewer.tasks[0].id, fewer.tasks[1].id], [created.tasks[0].id, created.tasks[2].id]);
    let gone = writing.graph_task_delete(created.id, 2, "b").await;
    assert_error!(gone, StoreError::NotFound { what: "task" });
    assert_error!(writing.graph_task_delete(created.id, 1, "a").await, StoreError::Stale { current: 2 });
    assert!(writing.graph_delete(created.id).await.unwrap());
    assert!(!writing.graph_delete(created.id).await.unwrap());
    assert_eq!(writing.graph_find(owner, &kind).await.unwrap(), None);
    // The graph type is free again, and ids of graphs and tasks are not reused.
    let next = writing.graph_create(owner, &kind, &none, &plain(&["a"])).await.unwrap();
    assert!(next.id > created.id && next.tasks[0].id > created.tasks[2].id);
    commit(writing).await;
}

on_both![
    graph_and_task_deletion,
    graph_type_is_unique_and_owner_must_exist,
    graphs_of_all_owner_kinds_round_trip,
    list_filters_by_owners_and_types,
    metadata_and_tasks_change_independently,
    update_requires_current_generation,
];
