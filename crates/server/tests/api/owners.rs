//! A release, a cluster and a plugin that own graphs.

use stoker_model::{
    Actor, AuditChange, ClusterPlugin, Json, JsonMap, Micros, NewCluster, NewPlugin, NewRelease, NewTenant,
    ReleaseState,
};

use crate::support::TestServer;

/// IDs of records written directly to the store.
pub(crate) struct Owners {
    pub(crate) release: i64,
    pub(crate) cluster: i64,
    pub(crate) plugin: i64,
}

impl Owners {
    pub(crate) async fn create(server: &TestServer) -> Self {
        let mut transaction = server.app.store.begin_write(&Actor::server(), Micros(1)).await.unwrap();
        let tenant = NewTenant { name: "of-owners".into(), description: None, enabled: true };
        let tenant = transaction.tenant_create(&tenant).await.unwrap();
        let release = transaction.release_create(&release()).await.unwrap();
        let plugin = transaction.plugin_create(&plugin()).await.unwrap();
        let cluster = NewCluster {
            tenant_id: tenant.id,
            release_id: release.id,
            name: "c".into(),
            mode: "ha_compact".into(),
            net_provider: "neutron".into(),
            net_segment_type: None,
            components: Vec::new(),
            editable: JsonMap::new(),
            generated: JsonMap::new(),
            merge_order: None,
            merge_mode: None,
        };
        let cluster = transaction.cluster_create(&cluster).await.unwrap();
        transaction.commit(change()).await.unwrap();
        Self { release: release.id.0, cluster: cluster.id.0, plugin: plugin.id.0 }
    }

    pub(crate) async fn enable_plugin(&self, server: &TestServer) {
        let mut transaction = server.app.store.begin_write(&Actor::server(), Micros(1)).await.unwrap();
        let link = ClusterPlugin {
            plugin_id: stoker_model::PluginId(self.plugin),
            enabled: true,
            attributes: JsonMap::new(),
        };
        transaction.cluster_plugin_set(stoker_model::ClusterId(self.cluster), &link).await.unwrap();
        transaction.commit(change()).await.unwrap();
    }

    pub(crate) fn release_path(&self) -> String {
        format!("releases/{}", self.release)
    }

    pub(crate) fn cluster_path(&self) -> String {
        format!("clusters/{}", self.cluster)
    }

    pub(crate) fn plugin_path(&self) -> String {
        format!("plugins/{}", self.plugin)
    }
}

fn change() -> AuditChange {
    AuditChange { action: "test.prepare", target: String::new(), detail: Json::Null }
}

fn map(value: Json) -> JsonMap {
    match value {
        Json::Object(map) => map,
        other => panic!("{other} is not a map"),
    }
}

fn release() -> NewRelease {
    NewRelease {
        name: "r".into(),
        version: "mitaka-10.0".into(),
        description: None,
        operating_system: "Ubuntu".into(),
        state: ReleaseState::Available,
        modes_metadata: JsonMap::new(),
        roles_metadata: map(
            serde_json::json!({"controller": {"name": "Controller", "tags": ["controller"]}}),
        ),
        tags_metadata: map(serde_json::json!({"controller": {"has_primary": true}})),
        volumes_roles_mapping: JsonMap::new(),
        attributes_metadata: JsonMap::new(),
        networks_metadata: JsonMap::new(),
        volumes_metadata: JsonMap::new(),
        wizard_metadata: JsonMap::new(),
        components_metadata: Vec::new(),
        required_component_types: Vec::new(),
        extensions: Vec::new(),
        extra: JsonMap::new(),
    }
}

fn plugin() -> NewPlugin {
    NewPlugin {
        name: "add-on".into(),
        title: "Add-on".into(),
        version: "1.0.0".into(),
        package_version: "4.0.0".into(),
        description: None,
        homepage: None,
        is_hotpluggable: false,
        fuel_version: vec!["10.0".into()],
        groups: Vec::new(),
        authors: Vec::new(),
        licenses: Vec::new(),
        releases: Vec::new(),
        attributes_metadata: JsonMap::new(),
        roles_metadata: JsonMap::new(),
        tags_metadata: JsonMap::new(),
        volumes_metadata: JsonMap::new(),
        components_metadata: Vec::new(),
        tasks: Vec::new(),
        extra: JsonMap::new(),
    }
}
