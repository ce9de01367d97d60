use serde_json::json;
use stoker_model::{Owner, Release, ReleaseId, ReleaseState};
use stoker_store::{List, SequenceFilter, StoreError};

use crate::fixture::{Fixture, NOW, cluster, commit, graph_type, map, n_rows, new_release, release, task};

async fn all_fields_round_trip(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let created = release(&mut writing, "r").await;
    assert_eq!((created.generation, created.created_at), (1, NOW));
    assert_eq!(writing.release_get(created.id).await.unwrap().as_ref(), Some(&created));
    commit(writing).await;
    let mut session = fixture.read().await;
    assert_eq!(session.release_get(created.id).await.unwrap().as_ref(), Some(&created));
    assert_eq!(session.release_list(&List::default()).await.unwrap().items, [created]);
    assert_eq!(session.release_get(ReleaseId(i64::MAX)).await.unwrap(), None);
    assert_eq!(session.release_get(ReleaseId(-1)).await.unwrap(), None);
}

async fn name_and_version_together_are_unique(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let first = release(&mut writing, "r").await;
    assert_error!(
        writing.release_create(&first.body).await,
        StoreError::AlreadyExists { what: "release name and version" }
    );
    // The transaction is still usable.
    let mut other = new_release("r");
    other.version = "2".to_owned();
    let second = writing.release_create(&other).await.unwrap();
    let clash = Release { body: first.body.clone(), ..second.clone() };
    assert_error!(writing.release_update(&clash).await, StoreError::AlreadyExists { .. });
    assert_eq!(writing.release_update(&second).await.unwrap().generation, 2);
    commit(writing).await;
    assert_eq!(fixture.read().await.release_list(&List::default()).await.unwrap().total, 2);
}

async fn update_requires_current_generation(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let mut read = release(&mut writing, "r").await;
    read.body.state = ReleaseState::ManageOnly;
    read.body.description = None;
    read.body.extra = map(json!({"changed": 1}));
    let written = writing.release_update(&read).await.unwrap();
    assert_eq!(written, Release { generation: 2, ..read.clone() });
    assert_error!(writing.release_update(&read).await, StoreError::Stale { current: 2 });
    let unknown = Release { id: ReleaseId(4711), body: new_release("unknown"), ..read };
    assert_error!(writing.release_update(&unknown).await, StoreError::NotFound { what: "release" });
    commit(writing).await;
    assert_eq!(fixture.read().await.release_get(written.id).await.unwrap(), Some(written));
}

async fn deleting_release_deletes_graphs_but_not_if_in_use(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let cluster = cluster(&mut writing, "c").await;
    let doomed = release(&mut writing, "doomed").await;
    let owner = Owner::Release(doomed.id);
    let tasks = [task("a", json!({"type": "puppet"}))];
    let graph =
        writing.graph_create(owner, &graph_type("default"), &Default::default(), &tasks).await.unwrap();
    let sequence = stoker_model::NewSequence { release_id: doomed.id, name: "s".to_owned(), graphs: vec![] };
    writing.sequence_create(&sequence).await.unwrap();
    let used = writing.release_delete(cluster.release_id).await;
    assert_error!(used, StoreError::Referenced { what: "cluster" });
    assert!(writing.release_delete(doomed.id).await.unwrap());
    assert!(!writing.release_delete(doomed.id).await.unwrap());
    commit(writing).await;
    let mut session = fixture.read().await;
    assert_eq!(session.graph_get(graph.id).await.unwrap(), None);
    assert_eq!(session.sequence_list(&SequenceFilter::default(), &List::default()).await.unwrap().total, 0);
    assert!(session.release_get(cluster.release_id).await.unwrap().is_some());
    for table in ["deployment_graphs", "deployment_graph_tasks"] {
        assert_eq!(n_rows(fixture, table).await, 0, "{table}");
    }
}

on_both![
    all_fields_round_trip,
    deleting_release_deletes_graphs_but_not_if_in_use,
    name_and_version_together_are_unique,
    update_requires_current_generation,
];
