//! Property test: after random edits the store agrees with an in-memory model, and unchanged tasks keep their
//! rows.

use std::collections::HashMap;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;
use stoker_model::{GraphMetadata, Json, Owner, Task};
use tokio::runtime::Handle;

use crate::fixture::{Fixture, commit, graph_type, release, task};

const N_CASES: u32 = 24;

/// Generates tasks whose names and contents come from small pools, so that edits often affect the same task.
fn tasks() -> impl Strategy<Value = Vec<Task>> {
    let content = prop_oneof![
        Just(json!({})),
        Just(json!({"condition": null})),
        Just(json!({"condition": false})),
        Just(json!({"type": "puppet", "own": 1})),
        Just(json!({"own": 1, "type": "puppet"})),
        Just(json!({"type": "puppet", "own": 1.0})),
    ];
    let one = (0..12_u8, content).prop_map(|(name, fields)| task(&format!("t{name}"), fields));
    prop::collection::vec(one, 0..12).prop_map(|mut tasks| {
        let mut seen = std::collections::HashSet::new();
        tasks.retain(|task| seen.insert(task.name.clone()));
        tasks
    })
}

fn edits() -> impl Strategy<Value = Vec<Vec<Task>>> {
    prop::collection::vec(tasks(), 1..8)
}

async fn check(fixture: &Fixture, owner: Owner, number: u32, edits: Vec<Vec<Task>>) {
    let (kind, none) = (graph_type(&format!("g{number}")), GraphMetadata::default());
    let mut writing = fixture.change().await;
    let mut graph = writing.graph_create(owner, &kind, &none, &edits[0]).await.unwrap();
    commit(writing).await;
    let mut last_row = 0;
    for edit in &edits[1..] {
        let mut writing = fixture.change().await;
        let next = writing.graph_update(graph.id, graph.generation, &none, Some(edit)).await.unwrap();
        commit(writing).await;
        let read = fixture.read().await.graph_get(graph.id).await.unwrap().unwrap();
        assert_eq!(read, next);
        assert_eq!(
            read.tasks.iter().map(|stored| &stored.task).collect::<Vec<_>>(),
            edit.iter().collect::<Vec<_>>()
        );
        let old: HashMap<&str, _> =
            graph.tasks.iter().map(|stored| (stored.task.name.as_str(), stored)).collect();
        last_row = graph.tasks.iter().map(|stored| stored.id.0).chain([last_row]).max().unwrap();
        for stored in next.tasks.iter() {
            match old.get(stored.task.name.as_str()) {
                Some(before) if before.task.fields == stored.task.fields => assert_eq!(before.id, stored.id),
                _ => assert!(stored.id.0 > last_row, "a row id was reused"),
            }
        }
        let same = graph.tasks.iter().map(|stored| &stored.task).eq(edit.iter());
        assert_eq!(next.generation, graph.generation + i64::from(!same));
        graph = next;
    }
}

async fn unchanged_tasks_keep_rows_under_random_edits(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let owner = Owner::Release(release(&mut writing, "r").await.id);
    commit(writing).await;
    let handle = Handle::current();
    let config = Config { cases: N_CASES, failure_persistence: None, ..Config::default() };
    let number = std::cell::Cell::new(0);
    tokio::task::block_in_place(|| {
        TestRunner::new(config).run(&edits(), |edits| {
            number.set(number.get() + 1);
            handle.block_on(check(fixture, owner, number.get(), edits));
            Ok(())
        })
    })
    .unwrap();
}

#[test]
fn pool_contents_are_distinct() {
    let values: Vec<Json> = vec![json!({"a": 1}), json!({"a": 1.0}), json!({"a": null}), json!({})];
    for (index, value) in values.iter().enumerate() {
        assert!(values[..index].iter().all(|other| other != value));
    }
}

on_both![unchanged_tasks_keep_rows_under_random_edits,];
