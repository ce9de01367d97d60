//! Source locations of tasks: stored with the graph and deleted when its tasks change.

use std::collections::BTreeMap;

use stoker_model::{GraphId, GraphMetadata, GraphSource, Owner};

use crate::fixture::{Fixture, commit, graph_type, n_rows, release};
use crate::graphs::plain;

async fn source_lines_are_stored_until_tasks_change(fixture: &Fixture) {
    let lines = |line| {
        let fields = BTreeMap::from([(String::new(), line), ("requires".to_owned(), line + 1)]);
        BTreeMap::from([("a".to_owned(), fields)])
    };
    let source = GraphSource { file: Some("täsks.yaml".to_owned()), lines: lines(3) };
    let mut writing = fixture.change().await;
    let owner = Owner::Release(release(&mut writing, "r").await.id);
    let (kind, none) = (graph_type("t"), GraphMetadata::default());
    let graph = writing.graph_create(owner, &kind, &none, &plain(&["a"])).await.unwrap();
    assert!(writing.graph_sources([graph.id]).await.unwrap().is_empty());
    writing.graph_source_put(&graph, &source).await.unwrap();
    commit(writing).await;

    let mut session = fixture.read().await;
    let sources = session.graph_sources([graph.id, GraphId(99)]).await.unwrap();
    assert_eq!((sources.len(), sources.get(&graph.id)), (1, Some(&source)));
    assert!(session.graph_sources([]).await.unwrap().is_empty());
    drop(session);

    // Changing metadata or storing equal tasks keeps the locations; another upload replaces them.
    let mut writing = fixture.change().await;
    let named = GraphMetadata { name: Some("n".to_owned()), ..none.clone() };
    let graph = writing.graph_update(graph.id, graph.generation, &named, Some(&plain(&["a"]))).await.unwrap();
    assert_eq!(writing.graph_sources([graph.id]).await.unwrap()[&graph.id], source);
    let moved = GraphSource { file: None, lines: lines(7) };
    writing.graph_source_put(&graph, &moved).await.unwrap();
    assert_eq!(writing.graph_sources([graph.id]).await.unwrap()[&graph.id], moved);
    let graph = writing.graph_update(graph.id, graph.generation, &none, Some(&plain(&["b"]))).await.unwrap();
    assert!(writing.graph_sources([graph.id]).await.unwrap().is_empty());
    writing.graph_source_put(&graph, &moved).await.unwrap();
    writing.graph_delete(graph.id).await.unwrap();
    commit(writing).await;
    assert_eq!(n_rows(fixture, "deployment_graph_sources").await, 0);
}

on_both!(source_lines_are_stored_until_tasks_change);
