//! Isolation between sessions, rollback and concurrent writes.

use std::sync::Arc;
use std::time::Duration;

use stoker_model::{Actor, GraphMetadata, Owner, Release};
use stoker_store::{List, StoreError};

use crate::fixture::{Fixture, NOW, change, commit, graph_type, n_rows, release, tenant};
use crate::graphs::plain;

async fn uncommitted_changes_are_rolled_back(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let owner = Owner::Release(release(&mut writing, "r").await.id);
    let none = GraphMetadata::default();
    writing.graph_create(owner, &graph_type("t"), &none, &plain(&["a"])).await.unwrap();
    // Uncommitted changes are visible only inside the transaction.
    assert_eq!(writing.release_list(&List::default()).await.unwrap().total, 1);
    assert_eq!(fixture.read().await.release_list(&List::default()).await.unwrap().total, 0);
    drop(writing);
    assert_eq!(fixture.read().await.release_list(&List::default()).await.unwrap().total, 0);
    assert_eq!(
        fixture.read().await.graph_list(&Default::default(), &List::default()).await.unwrap().total,
        0
    );
    let mut writing = fixture.change().await;
    release(&mut writing, "r").await;
    commit(writing).await;
    assert_eq!(fixture.read().await.release_list(&List::default()).await.unwrap().total, 1);
}

async fn aborted_task_rolls_back(fixture: &Fixture) {
    let store = fixture.store.clone();
    let (started, begun) = tokio::sync::oneshot::channel();
    let worker = tokio::spawn(async move {
        let mut writing = store.begin_write(&Actor::server(), NOW).await.unwrap();
        tenant(&mut writing, "half").await;
        started.send(()).unwrap();
        std::future::pending::<()>().await;
        drop(writing);
    });
    begun.await.unwrap();
    worker.abort();
    assert!(worker.await.unwrap_err().is_cancelled());
    // The writer lock is released, and no change was written.
    let mut writing = fixture.change().await;
    assert_eq!(writing.tenant_list(&List::default()).await.unwrap().total, 0);
    tenant(&mut writing, "half").await;
    commit(writing).await;
}

async fn rolled_back_generations_are_not_cached(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let owner = Owner::Release(release(&mut writing, "r").await.id);
    let none = GraphMetadata::default();
    let graph = writing.graph_create(owner, &graph_type("t"), &none, &plain(&["a"])).await.unwrap();
    commit(writing).await;
    let mut writing = fixture.change().await;
    writing.graph_update(graph.id, 1, &none, Some(&plain(&["b"]))).await.unwrap();
    assert_eq!(writing.graph_get(graph.id).await.unwrap().unwrap().tasks[0].task.name, "b");
    drop(writing);
    let mut writing = fixture.change().await;
    let second = writing.graph_update(graph.id, 1, &none, Some(&plain(&["c"]))).await.unwrap();
    commit(writing).await;
    assert_eq!(second.generation, 2);
    assert_eq!(fixture.read().await.graph_get(graph.id).await.unwrap(), Some(second));
}

async fn snapshot_is_consistent(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let owner = Owner::Release(release(&mut writing, "r").await.id);
    let none = GraphMetadata::default();
    let graph = writing.graph_create(owner, &graph_type("t"), &none, &plain(&["a"])).await.unwrap();
    commit(writing).await;
    let mut snapshot = fixture.store.snapshot().await.unwrap();
    assert_eq!(snapshot.release_list(&List::default()).await.unwrap().total, 1);
    let mut writing = fixture.change().await;
    release(&mut writing, "s").await;
    let newer = writing.graph_update(graph.id, 1, &none, Some(&plain(&["b"]))).await.unwrap();
    commit(writing).await;
    // The new generation is cached now; the snapshot still sees the old one.
    assert_eq!(fixture.read().await.graph_get(graph.id).await.unwrap(), Some(newer));
    assert_eq!(snapshot.release_list(&List::default()).await.unwrap().total, 1);
    assert_eq!(snapshot.graph_get(graph.id).await.unwrap(), Some(graph));
    drop(snapshot);
    assert_eq!(fixture.read().await.release_list(&List::default()).await.unwrap().total, 2);
}

async fn concurrent_update_is_reported_as_stale(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let first = release(&mut writing, "r").await;
    commit(writing).await;
    let barrier = Arc::new(tokio::sync::Barrier::new(8));
    let mut workers = Vec::new();
    for number in 0..8 {
        let (store, barrier, read) = (fixture.store.clone(), Arc::clone(&barrier), first.clone());
        workers.push(tokio::spawn(async move {
            barrier.wait().await;
            let mut writing = store.begin_write(&Actor::server(), NOW).await?;
            let mut changed: Release = read;
            changed.body.operating_system = format!("writer {number}");
            writing.release_update(&changed).await?;
            writing.commit(change("release.update")).await
        }));
    }
    let mut n_done = 0;
    for worker in workers {
        match worker.await.unwrap() {
            Ok(()) => n_done += 1,
            Err(StoreError::Stale { current: 2 }) => {}
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!(n_done, 1);
}

async fn no_lost_updates(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let owner = Owner::Release(release(&mut writing, "r").await.id);
    let none = GraphMetadata::default();
    let id = writing.graph_create(owner, &graph_type("t"), &none, &[]).await.unwrap().id;
    commit(writing).await;
    let add = async |name: String| loop {
        let graph = fixture.read().await.graph_get(id).await.unwrap().unwrap();
        let mut tasks: Vec<_> = graph.tasks.iter().map(|stored| stored.task.clone()).collect();
        tasks.extend(plain(&[&name]));
        let mut writing = fixture.change().await;
        match writing.graph_update(id, graph.generation, &none, Some(&tasks)).await {
            Ok(_) => break writing.commit(change("graph.update")).await.unwrap(),
            Err(StoreError::Stale { .. }) => {}
            Err(other) => panic!("{other:?}"),
        }
    };
    let writer = async |who: &str| {
        for number in 0..6 {
            add(format!("{who}{number}")).await;
        }
    };
    tokio::join!(writer("a"), writer("b"), writer("c"));
    let graph = fixture.read().await.graph_get(id).await.unwrap().unwrap();
    assert_eq!((graph.tasks.len(), graph.generation), (18, 19));
}

/// A reader without a transaction sees only tasks of the same generation as the graph.
async fn graph_and_tasks_have_equal_generation_under_writes(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let owner = Owner::Release(release(&mut writing, "r").await.id);
    let none = GraphMetadata::default();
    let id = writing.graph_create(owner, &graph_type("t"), &none, &[]).await.unwrap().id;
    commit(writing).await;
    let write = async {
        for generation in 1..60_i64 {
            // The number of tasks equals the generation number, except that every tenth generation has none.
            let n_tasks = if generation % 10 == 9 { 0 } else { generation + 1 };
            let names: Vec<String> = (0..n_tasks).map(|number| format!("t{number}")).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let mut writing = fixture.change().await;
            writing.graph_update(id, generation, &none, Some(&plain(&names))).await.unwrap();
            commit(writing).await;
        }
    };
    let read = async {
        let mut session = fixture.read().await;
        loop {
            let graph = session.graph_get(id).await.unwrap().unwrap();
            let expected =
                if graph.generation % 10 == 0 || graph.generation == 1 { 0 } else { graph.generation };
            assert_eq!(graph.tasks.len() as i64, expected, "generation {}", graph.generation);
            if graph.generation == 60 {
                break;
            }
        }
    };
    tokio::join!(write, read, read_again(fixture, id));
}

async fn read_again(fixture: &Fixture, id: stoker_model::GraphId) {
    while fixture.read().await.graph_get(id).await.unwrap().unwrap().generation < 60 {
        tokio::task::yield_now().await;
    }
}

/// Both writers read the same generation; the second writer blocks on the writer lock until the first
/// commits.
async fn second_graph_update_is_reported_as_stale(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let owner = Owner::Release(release(&mut writing, "r").await.id);
    let none = GraphMetadata::default();
    let id = writing.graph_create(owner, &graph_type("t"), &none, &plain(&["a"])).await.unwrap().id;
    commit(writing).await;
    let (begun, wait) = tokio::sync::oneshot::channel();
    let first = async {
        let mut writing = fixture.change().await;
        let changed = writing.graph_update(id, 1, &none, Some(&plain(&["a", "b"]))).await.unwrap();
        begun.send(()).unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        commit(writing).await;
        changed
    };
    let second = async {
        wait.await.unwrap();
        let mut writing = fixture.change().await;
        let late = writing.graph_update(id, 1, &none, Some(&plain(&["a", "c"]))).await;
        assert_error!(late, StoreError::Stale { current: 2 });
    };
    let (changed, ()) = tokio::join!(first, second);
    assert_eq!(fixture.read().await.graph_get(id).await.unwrap(), Some(changed));
}

/// No graph is left without an owner, regardless of which transaction commits first.
async fn owner_deletion_races_graph_creation(fixture: &Fixture) {
    let none = GraphMetadata::default();
    for creates_first in [true, false] {
        let mut writing = fixture.change().await;
        let id = release(&mut writing, "r").await.id;
        commit(writing).await;
        let (begun, wait) = tokio::sync::oneshot::channel();
        let first = async {
            let mut writing = fixture.change().await;
            if creates_first {
                let tasks = plain(&["a"]);
                writing.graph_create(Owner::Release(id), &graph_type("t"), &none, &tasks).await.unwrap();
            } else {
                assert!(writing.release_delete(id).await.unwrap());
            }
            begun.send(()).unwrap();
            // Gives the other transaction time to block. The outcome does not depend on it.
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            commit(writing).await;
        };
        let second = async {
            wait.await.unwrap();
            let mut writing = fixture.change().await;
            if creates_first {
                assert!(writing.release_delete(id).await.unwrap());
                commit(writing).await;
            } else {
                let late = writing.graph_create(Owner::Release(id), &graph_type("t"), &none, &[]).await;
                assert_error!(late, StoreError::NotFound { what: "release" });
            }
        };
        tokio::join!(first, second);
        let mut session = fixture.read().await;
        assert_eq!(session.release_list(&List::default()).await.unwrap().total, 0);
        assert_eq!(session.graph_list(&Default::default(), &List::default()).await.unwrap().total, 0);
        assert_eq!(n_rows(fixture, "deployment_graphs").await, 0);
        assert_eq!(n_rows(fixture, "deployment_graph_tasks").await, 0);
    }
}

async fn queued_writers_do_not_delay_readers(fixture: &Fixture) {
    let writing = fixture.change().await;
    let queue =
        |store: stoker_store::Store| async move { store.begin_write(&Actor::server(), NOW).await.map(drop) };
    let queued: Vec<_> = (0..50).map(|_| tokio::spawn(queue(fixture.store.clone()))).collect();
    // Long enough for each writer to acquire the resources that it holds while it waits.
    tokio::time::sleep(Duration::from_millis(300)).await;
    let read = tokio::time::timeout(Duration::from_secs(5), fixture.store.ping()).await;
    read.expect("readers wait for writers").unwrap();
    drop(writing);
    for writer in queued {
        writer.await.unwrap().unwrap();
    }
}

async fn closed_store_reports_outage(fixture: &Fixture) {
    fixture.store.ping().await.unwrap();
    fixture.store.close().await;
    assert_error!(fixture.store.ping().await, StoreError::Unavailable(_));
    assert_error!(
        fixture.store.begin_write(&Actor::server(), NOW).await.map(drop),
        StoreError::Unavailable(_)
    );
}

on_both![
    aborted_task_rolls_back,
    closed_store_reports_outage,
    concurrent_update_is_reported_as_stale,
    graph_and_tasks_have_equal_generation_under_writes,
    no_lost_updates,
    owner_deletion_races_graph_creation,
    queued_writers_do_not_delay_readers,
    rolled_back_generations_are_not_cached,
    second_graph_update_is_reported_as_stale,
    snapshot_is_consistent,
    uncommitted_changes_are_rolled_back,
];
