use stoker_model::{NewSequence, ReleaseId, Sequence, SequenceGraph, SequenceId};
use stoker_store::{List, SequenceFilter, StoreError};

use crate::fixture::{Fixture, commit, graph_type, release};

fn graphs() -> Vec<SequenceGraph> {
    let plain = |name: &str| SequenceGraph { graph_type: graph_type(name), nodes: None, tasks: None };
    vec![
        plain("net-verification"),
        SequenceGraph { nodes: Some(vec![]), tasks: Some(vec![]), ..plain("a") },
        SequenceGraph { nodes: Some(vec![3, i64::MAX]), tasks: Some(vec!["x".to_owned()]), ..plain("a") },
    ]
}

async fn all_fields_round_trip(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let release = release(&mut writing, "r").await;
    let new = NewSequence { release_id: release.id, name: "deploy".to_owned(), graphs: graphs() };
    let created = writing.sequence_create(&new).await.unwrap();
    assert_eq!(writing.sequence_get(created.id).await.unwrap().as_ref(), Some(&created));
    let changed = Sequence { name: "other".to_owned(), graphs: vec![], ..created.clone() };
    let changed = writing.sequence_update(&changed).await.unwrap();
    assert_error!(writing.sequence_update(&created).await, StoreError::Stale { current: 2 });
    commit(writing).await;
    let mut session = fixture.read().await;
    assert_eq!(session.sequence_get(created.id).await.unwrap(), Some(changed));
    assert_eq!(session.sequence_get(SequenceId(9)).await.unwrap(), None);
}

async fn names_are_unique_per_release(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let (one, two) = (release(&mut writing, "one").await, release(&mut writing, "two").await);
    let new = |release_id, name: &str| NewSequence { release_id, name: name.to_owned(), graphs: vec![] };
    let first = writing.sequence_create(&new(one.id, "s")).await.unwrap();
    let second = writing.sequence_create(&new(one.id, "t")).await.unwrap();
    let third = writing.sequence_create(&new(two.id, "s")).await.unwrap();
    let taken = writing.sequence_create(&new(one.id, "s")).await;
    assert_error!(taken, StoreError::AlreadyExists { what: "sequence name" });
    let clash = Sequence { name: "s".to_owned(), ..second.clone() };
    assert_error!(writing.sequence_update(&clash).await, StoreError::AlreadyExists { .. });
    let orphan = writing.sequence_create(&new(ReleaseId(99), "s")).await;
    assert_error!(orphan, StoreError::NotFound { what: "release" });
    commit(writing).await;
    let mut session = fixture.read().await;
    let filter = SequenceFilter { release_id: Some(one.id) };
    assert_eq!(session.sequence_list(&filter, &List::default()).await.unwrap().items, [first, second]);
    let all = session.sequence_list(&SequenceFilter::default(), &List::default()).await.unwrap();
    assert_eq!(all.items.last(), Some(&third));
    drop(session);
    let mut writing = fixture.change().await;
    assert!(writing.sequence_delete(third.id).await.unwrap());
    assert!(!writing.sequence_delete(third.id).await.unwrap());
}

on_both![all_fields_round_trip, names_are_unique_per_release,];
