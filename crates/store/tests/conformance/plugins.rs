use serde_json::json;
use stoker_model::{ClusterId, ClusterPlugin, Owner, Plugin, PluginId};
use stoker_store::{List, StoreError};

use crate::fixture::{Fixture, cluster, commit, graph_type, map, n_rows, new_plugin, plugin, task};

async fn all_fields_round_trip(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let created = plugin(&mut writing, "p").await;
    let mut changed = created.clone();
    changed.body.title = "Another".to_owned();
    changed.body.is_hotpluggable = false;
    let changed = writing.plugin_update(&changed).await.unwrap();
    assert_eq!(changed.generation, 2);
    assert_error!(writing.plugin_update(&created).await, StoreError::Stale { current: 2 });
    commit(writing).await;
    let mut session = fixture.read().await;
    assert_eq!(session.plugin_get(created.id).await.unwrap().as_ref(), Some(&changed));
    assert_eq!(session.plugin_list(&List::default()).await.unwrap().items, [changed]);
    assert_eq!(session.plugin_get(PluginId(0)).await.unwrap(), None);
}

async fn name_and_version_together_are_unique(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let first = plugin(&mut writing, "p").await;
    assert_error!(
        writing.plugin_create(&first.body).await,
        StoreError::AlreadyExists { what: "plugin name and version" }
    );
    let mut newer = new_plugin("p");
    newer.version = "2.0.0".to_owned();
    let newer = writing.plugin_create(&newer).await.unwrap();
    let clash = Plugin { body: first.body.clone(), ..newer };
    assert_error!(writing.plugin_update(&clash).await, StoreError::AlreadyExists { .. });
    let unknown = Plugin { id: PluginId(99), body: new_plugin("q"), ..first };
    assert_error!(writing.plugin_update(&unknown).await, StoreError::NotFound { what: "plugin" });
    commit(writing).await;
}

async fn cluster_plugin_settings_round_trip(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let (one, two) = (cluster(&mut writing, "one").await, cluster(&mut writing, "two").await);
    let plugin = plugin(&mut writing, "p").await;
    let mut link = ClusterPlugin {
        plugin_id: plugin.id,
        enabled: false,
        attributes: map(json!({"a": {"value": null}})),
    };
    writing.cluster_plugin_set(one.id, &link).await.unwrap();
    writing.cluster_plugin_set(two.id, &link).await.unwrap();
    assert_eq!(writing.plugin_clusters(plugin.id).await.unwrap(), []);
    link.enabled = true;
    link.attributes = map(json!({"a": {"value": 5}}));
    writing.cluster_plugin_set(one.id, &link).await.unwrap();
    assert_eq!(writing.plugin_clusters(plugin.id).await.unwrap(), [one.id]);
    assert_error!(
        writing.cluster_plugin_set(ClusterId(77), &link).await,
        StoreError::NotFound { what: "cluster" }
    );
    let unknown = ClusterPlugin { plugin_id: PluginId(77), ..link.clone() };
    assert_error!(
        writing.cluster_plugin_set(one.id, &unknown).await,
        StoreError::NotFound { what: "plugin" }
    );
    commit(writing).await;
    let mut session = fixture.read().await;
    assert_eq!(session.cluster_plugins(one.id).await.unwrap(), [link]);
    assert!(!session.cluster_plugins(two.id).await.unwrap()[0].enabled);
    assert_eq!(session.cluster_plugins(ClusterId(77)).await.unwrap(), []);
}

async fn enabled_plugin_cannot_be_deleted(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let cluster = cluster(&mut writing, "c").await;
    let plugin = plugin(&mut writing, "p").await;
    let tasks = [task("a", json!({}))];
    let owner = Owner::Plugin(plugin.id);
    let graph = writing.graph_create(owner, &graph_type("t"), &Default::default(), &tasks).await.unwrap();
    let mut link = ClusterPlugin { plugin_id: plugin.id, enabled: true, attributes: map(json!({})) };
    writing.cluster_plugin_set(cluster.id, &link).await.unwrap();
    assert_error!(writing.plugin_delete(plugin.id).await, StoreError::Referenced { what: "cluster" });
    link.enabled = false;
    writing.cluster_plugin_set(cluster.id, &link).await.unwrap();
    assert!(writing.plugin_delete(plugin.id).await.unwrap());
    assert!(!writing.plugin_delete(plugin.id).await.unwrap());
    commit(writing).await;
    let mut session = fixture.read().await;
    assert_eq!(session.graph_get(graph.id).await.unwrap(), None);
    assert_eq!(session.cluster_plugins(cluster.id).await.unwrap(), []);
    for table in ["deployment_graphs", "deployment_graph_tasks"] {
        assert_eq!(n_rows(fixture, table).await, 0, "{table}");
    }
}

async fn folders_belong_to_one_plugin(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let (one, two) = (plugin(&mut writing, "one").await, plugin(&mut writing, "two").await);
    writing.plugin_folder_set(one.id, "one-1.0").await.unwrap();
    writing.plugin_folder_set(one.id, "one-1.0").await.unwrap();
    let taken = writing.plugin_folder_set(two.id, "one-1.0").await;
    assert_error!(taken, StoreError::AlreadyExists { what: "folder of a plugin" });
    let unknown = writing.plugin_folder_set(PluginId(77), "x").await;
    assert_error!(unknown, StoreError::NotFound { what: "plugin" });
    writing.plugin_folder_set(two.id, "two-1.0").await.unwrap();
    writing.plugin_folder_set(one.id, "one-1.1").await.unwrap();
    commit(writing).await;
    let folders = fixture.read().await.plugin_folders().await.unwrap();
    let expected = [("one-1.1".to_owned(), one.id), ("two-1.0".to_owned(), two.id)];
    assert_eq!(folders, expected.into());
    let mut writing = fixture.change().await;
    assert!(writing.plugin_delete(one.id).await.unwrap());
    commit(writing).await;
    assert_eq!(fixture.read().await.plugin_folders().await.unwrap().len(), 1);
}

on_both![
    all_fields_round_trip,
    cluster_plugin_settings_round_trip,
    enabled_plugin_cannot_be_deleted,
    folders_belong_to_one_plugin,
    name_and_version_together_are_unique,
];
