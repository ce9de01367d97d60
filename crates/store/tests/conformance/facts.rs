use serde_json::json;
use stoker_model::{ClusterId, FactsKind};
use stoker_store::StoreError;

use crate::fixture::{Fixture, cluster, commit};

async fn documents_are_keyed_by_cluster_kind_and_uid(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let (one, two) = (cluster(&mut writing, "one").await, cluster(&mut writing, "two").await);
    let (deployment, provisioning) = (FactsKind::Deployment, FactsKind::Provisioning);
    let fact = |uid: &str, value: i64| (uid.to_owned(), json!({"value": value}));
    writing.facts_put(one.id, deployment, &[fact("common", 1), fact("2", 1), fact("1", 1)]).await.unwrap();
    writing.facts_put(one.id, provisioning, &[fact("1", 7)]).await.unwrap();
    writing.facts_put(two.id, deployment, &[fact("1", 8)]).await.unwrap();
    writing.facts_put(one.id, deployment, &[fact("2", 2), fact("3", 3)]).await.unwrap();
    writing.facts_put(one.id, deployment, &[]).await.unwrap();
    let dangling = writing.facts_put(ClusterId(99), deployment, &[fact("1", 1)]).await;
    assert_error!(dangling, StoreError::NotFound { what: "cluster" });
    commit(writing).await;
    let facts = fixture.read().await.facts_get(one.id, deployment).await.unwrap();
    assert_eq!(facts, [fact("common", 1), fact("2", 2), fact("1", 1), fact("3", 3)]);
    let mut writing = fixture.change().await;
    assert_eq!(writing.facts_delete(one.id, deployment).await.unwrap(), 4);
    assert_eq!(writing.facts_delete(one.id, deployment).await.unwrap(), 0);
    assert_eq!(writing.facts_get(one.id, provisioning).await.unwrap(), [fact("1", 7)]);
    assert_eq!(writing.facts_get(two.id, deployment).await.unwrap(), [fact("1", 8)]);
    commit(writing).await;
}

async fn settings_are_replaced(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    assert_eq!(writing.setting_get("merge").await.unwrap(), None);
    for value in [json!(null), json!({"order": "release,plugins,cluster"}), json!(false)] {
        writing.setting_put("merge", &value).await.unwrap();
        assert_eq!(writing.setting_get("merge").await.unwrap(), Some(value));
    }
    assert_eq!(writing.setting_get("mer\0ge").await.unwrap(), None);
    commit(writing).await;
    assert_eq!(fixture.read().await.setting_get("merge").await.unwrap(), Some(json!(false)));
}

on_both![documents_are_keyed_by_cluster_kind_and_uid, settings_are_replaced,];
