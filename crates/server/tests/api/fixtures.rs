//! Records written directly to the store, for states that the API does not create or refuses to create.

use serde_json::json;
use stoker_model::{
    Actor, AuditChange, ClusterId, ClusterPlugin, Json, JsonMap, Micros, NewCluster, NewNode, PluginId,
};
use stoker_model::{ReleaseId, TenantId};
use stoker_store::WriteTransaction;

use crate::support::TestServer;

/// Creates a cluster in the admin's tenant with one node that has these roles and pending roles.
pub(crate) async fn cluster_with_roles(
    server: &TestServer,
    release_id: i64,
    roles: &[&str],
    pending: &[&str],
) -> i64 {
    let mut transaction = begin_write(server).await;
    let new = NewCluster {
        tenant_id: TenantId(1),
        release_id: ReleaseId(release_id),
        name: format!("cluster of {release_id}"),
        mode: "ha_compact".to_owned(),
        net_provider: "neutron".to_owned(),
        net_segment_type: None,
        components: Vec::new(),
        editable: JsonMap::new(),
        generated: JsonMap::new(),
        merge_order: None,
        merge_mode: None,
    };
    let cluster = transaction.cluster_create(&new).await.unwrap();
    let node = NewNode {
        mac: format!("00:00:00:00:00:{:02}", cluster.id.0),
        ip: None,
        name: None,
        hostname: None,
        manufacturer: None,
        platform_name: None,
        os_platform: None,
        labels: JsonMap::new(),
        meta: JsonMap::new(),
        facts: JsonMap::new(),
    };
    let mut node = transaction.node_create(&node).await.unwrap();
    node.cluster_id = Some(cluster.id);
    node.roles = roles.iter().map(|role| (*role).to_owned()).collect();
    node.pending_roles = pending.iter().map(|role| (*role).to_owned()).collect();
    transaction.node_update(&node).await.unwrap();
    commit(transaction).await;
    cluster.id.0
}

/// Enables or disables plugin 1 in a cluster.
pub(crate) async fn set_plugin_enabled(server: &TestServer, cluster_id: i64, enabled: bool) {
    let mut transaction = begin_write(server).await;
    let link = ClusterPlugin { plugin_id: PluginId(1), enabled, attributes: JsonMap::new() };
    transaction.cluster_plugin_set(ClusterId(cluster_id), &link).await.unwrap();
    commit(transaction).await;
}

/// Stores stage tasks without validation: an older server may have accepted tasks that the API refuses today.
pub(crate) async fn set_stage_tasks(server: &TestServer, plugin_id: i64, tasks: Vec<Json>) {
    let mut transaction = begin_write(server).await;
    let mut plugin = transaction.plugin_get(PluginId(plugin_id)).await.unwrap().unwrap();
    plugin.body.tasks = tasks;
    transaction.plugin_update(&plugin).await.unwrap();
    commit(transaction).await;
}

pub(crate) async fn begin_write(server: &TestServer) -> WriteTransaction {
    server.app.store.begin_write(&Actor::server(), Micros(1)).await.unwrap()
}

pub(crate) async fn commit(transaction: WriteTransaction) {
    let change = AuditChange { action: "test", target: String::new(), detail: json!({}) };
    transaction.commit(change).await.unwrap();
}

/// Sets the version of a release without the checks of the API.
pub(crate) async fn set_release_version(server: &TestServer, id: i64, version: &str) {
    let mut transaction = begin_write(server).await;
    let mut release = transaction.release_get(ReleaseId(id)).await.unwrap().unwrap();
    version.clone_into(&mut release.body.version);
    transaction.release_update(&release).await.unwrap();
    commit(transaction).await;
}
