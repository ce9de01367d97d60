//! Text that an engine may reject.

use serde_json::{Value, json};
use stoker_model::{GraphMetadata, NewTenant, Node, Owner, Task};
use stoker_store::{List, StoreError};

use crate::fixture::{Fixture, commit, graph_type, map, new_release, node, release, task};

async fn nul_is_rejected_in_text_and_stored_in_documents(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let owner = Owner::Release(release(&mut writing, "r").await.id);
    let bad = NewTenant { name: "a\0b".to_owned(), description: None, enabled: true };
    assert_error!(writing.tenant_create(&bad).await, StoreError::Unstorable { what } if what.contains("NUL"));
    let bad = NewTenant { name: "a".to_owned(), description: Some("\0".to_owned()), enabled: true };
    assert_error!(writing.tenant_create(&bad).await, StoreError::Unstorable { .. });
    let named = GraphMetadata { node_filter: Some("\0".to_owned()), ..GraphMetadata::default() };
    let refused = writing.graph_create(owner, &graph_type("t"), &named, &[]).await;
    assert_error!(refused, StoreError::Unstorable { .. });
    let none = GraphMetadata::default();
    let unnamed = [task("a\0", json!({}))];
    let refused = writing.graph_create(owner, &graph_type("u"), &none, &unnamed).await;
    assert_error!(refused, StoreError::Unstorable { .. });
    drop(writing);

    let mut writing = fixture.change().await;
    let mut new = new_release("r");
    new.extra = map(json!({"a\u{0}b": ["\u{0}", "\u{fffe}\u{e000}"]}));
    new.extensions = vec!["\0".to_owned()];
    let created = writing.release_create(&new).await.unwrap();
    let tasks = [task("t", json!({"parameters": {"cmd": "printf '\u{0}'"}, "x\u{0}": "\u{0}"}))];
    let owner = Owner::Release(created.id);
    let graph = writing.graph_create(owner, &graph_type("t"), &none, &tasks).await.unwrap();
    commit(writing).await;
    let mut session = fixture.read().await;
    assert_eq!(session.release_get(created.id).await.unwrap(), Some(created));
    assert_eq!(session.graph_get(graph.id).await.unwrap(), Some(graph));
}

async fn long_texts_are_stored_and_long_names_rejected(fixture: &Fixture) {
    // Incompressible, because compression would hide a size limit.
    let noise = |n_bytes: usize| {
        let mut state = 88_172_645_463_325_252_u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            char::from(b'a' + (state % 26) as u8)
        };
        (0..n_bytes).map(|_| next()).collect::<String>()
    };
    let mut writing = fixture.change().await;
    let created = node(&mut writing, "aa").await;
    let long = noise(3_000_000);
    let changed = Node {
        name: long.clone(),
        error_msg: Some(long.clone()),
        meta: map(json!({"log": long})),
        ..created
    };
    let changed = writing.node_update(&changed).await.unwrap();
    let tenant = |name: String| NewTenant { name, description: Some(noise(100_000)), enabled: true };
    writing.tenant_create(&tenant(noise(1024))).await.unwrap();
    let mut both = new_release(&noise(1024));
    both.version = noise(1024);
    writing.release_create(&both).await.unwrap();
    assert_error!(writing.tenant_create(&tenant(noise(1025))).await, StoreError::Unstorable { .. });
    let named = Node { mac: noise(5000), generation: 2, ..changed.clone() };
    assert_error!(writing.node_update(&named).await, StoreError::Unstorable { .. });
    commit(writing).await;
    let mut session = fixture.read().await;
    assert_eq!(session.node_get(changed.id).await.unwrap(), Some(changed));
    assert_eq!(session.tenant_list(&List::default()).await.unwrap().total, 1);
}

async fn deep_documents_are_stored_or_rejected(fixture: &Fixture) {
    let nested = |depth: usize| (1..depth).fold(json!([]), |inner, _| Value::Array(vec![inner]));
    let deep = |depth| {
        let fields = map(json!({"parameters": nested(depth), "own": nested(depth)}));
        vec![Task { name: "a".to_owned(), fields }]
    };
    let none = GraphMetadata::default();
    let mut writing = fixture.change().await;
    let owner = Owner::Release(release(&mut writing, "r").await.id);
    let graph = writing.graph_create(owner, &graph_type("t"), &none, &deep(120)).await.unwrap();
    commit(writing).await;
    for depth in [121, 127, 128, 2000] {
        let mut writing = fixture.change().await;
        let refused = writing.graph_update(graph.id, 1, &none, Some(&deep(depth))).await;
        assert_error!(refused, StoreError::Unstorable { .. });
    }
    assert_eq!(fixture.read().await.graph_get(graph.id).await.unwrap(), Some(graph));
}

on_both![
    deep_documents_are_stored_or_rejected,
    long_texts_are_stored_and_long_names_rejected,
    nul_is_rejected_in_text_and_stored_in_documents,
];
