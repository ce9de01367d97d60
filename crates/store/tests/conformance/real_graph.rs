//! The largest real graph round-trips.

use stoker_model::{GraphMetadata, Json, Owner};

use crate::fixture::{Fixture, commit, graph_type, release};
use crate::real_tasks::real_tasks;

async fn real_default_graph_round_trips(fixture: &Fixture) {
    let Some(tasks) = real_tasks() else { return };
    assert!(tasks.len() > 200);
    let mut writing = fixture.change().await;
    let owner = Owner::Release(release(&mut writing, "r").await.id);
    let none = GraphMetadata::default();
    let graph = writing.graph_create(owner, &graph_type("default"), &none, &tasks).await.unwrap();
    commit(writing).await;
    let mut session = fixture.read().await;
    let read = session.graph_get(graph.id).await.unwrap().unwrap();
    assert_eq!(read, graph);
    assert!(read.tasks.iter().map(|stored| &stored.task).eq(tasks.iter()));
    assert_eq!(session.graph_get(graph.id).await.unwrap(), Some(read));
    drop(session);

    let mut edited = tasks.clone();
    edited[100].fields.insert("own".to_owned(), Json::from(1));
    let mut writing = fixture.change().await;
    let changed = writing.graph_update(graph.id, 1, &none, Some(&edited)).await.unwrap();
    commit(writing).await;
    let n_unchanged =
        changed.tasks.iter().zip(graph.tasks.iter()).filter(|(new, old)| new.id == old.id).count();
    assert_eq!(n_unchanged, tasks.len() - 1);
}

on_both![real_default_graph_round_trips,];
