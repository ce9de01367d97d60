//! Records of a small cluster.

use std::collections::BTreeMap;

use serde_json::json;
use stoker_model::{
    Cluster, ClusterId, ClusterStatus, Json, JsonMap, Micros, NewPlugin, NewRelease, Node, NodeId,
    NodeStatus, Plugin, PluginId, Release, ReleaseId, ReleaseState, TenantId,
};
use stoker_state::{DesiredState, EnabledPlugin, StateInput, desired_state, update_condition};

pub(crate) fn map(value: Json) -> JsonMap {
    match value {
        Json::Object(map) => map,
        other => panic!("not a map: {other}"),
    }
}

pub(crate) struct Records {
    pub(crate) cluster: Cluster,
    pub(crate) release: Release,
    pub(crate) plugins: Vec<EnabledPlugin>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) primaries: BTreeMap<String, NodeId>,
    pub(crate) package_access: BTreeMap<NodeId, String>,
}

impl Records {
    /// Two controllers, a compute node that also stores, and a node without a role.
    pub(crate) fn new() -> Self {
        let nodes = vec![
            node(1, &["controller"]),
            node(2, &["controller"]),
            node(3, &["compute", "cinder"]),
            node(4, &[]),
        ];
        Self {
            cluster: cluster(),
            release: release(),
            plugins: Vec::new(),
            nodes,
            primaries: BTreeMap::new(),
            package_access: BTreeMap::new(),
        }
    }

    pub(crate) fn state(&self) -> DesiredState {
        desired_state(&self.input())
    }

    pub(crate) fn update_condition(&self) -> Option<String> {
        update_condition(&self.input())
    }

    fn input(&self) -> StateInput<'_> {
        StateInput {
            cluster: &self.cluster,
            release: &self.release,
            plugins: &self.plugins,
            scripts_root: stoker_model::PLUGIN_SCRIPTS_ROOT,
            nodes: &self.nodes,
            primaries: &self.primaries,
            package_access: &self.package_access,
        }
    }
}

pub(crate) fn node(id: i64, roles: &[&str]) -> Node {
    Node {
        id: NodeId(id),
        generation: 1,
        cluster_id: Some(ClusterId(1)),
        name: format!("Node {id}"),
        mac: format!("00:00:00:00:00:{id:02}"),
        ip: Some(format!("10.0.0.{id}")),
        hostname: format!("node-{id}"),
        status: NodeStatus::Provisioned,
        online: true,
        roles: roles.iter().map(|role| (*role).to_owned()).collect(),
        pending_roles: Vec::new(),
        pending_addition: false,
        pending_deletion: false,
        error_type: None,
        error_msg: None,
        progress: 0,
        group_id: None,
        manufacturer: None,
        platform_name: None,
        os_platform: None,
        kernel_params: None,
        labels: map(json!({"rack": id.to_string()})),
        meta: JsonMap::new(),
        attributes: map(json!({"zone": "north", "weight": id})),
        facts: map(
            json!({"kernel": "6.1", "network_scheme": {"mtu": 1500, "roles": {"management": "br-mgmt"}}}),
        ),
        agent_checksum: None,
        last_seen_at: None,
        created_at: Micros(0),
        instance_options: JsonMap::new(),
    }
}

fn cluster() -> Cluster {
    Cluster {
        id: ClusterId(1),
        generation: 1,
        tenant_id: TenantId(1),
        release_id: ReleaseId(1),
        name: "demo".to_owned(),
        status: ClusterStatus::New,
        mode: "ha_compact".to_owned(),
        net_provider: "neutron".to_owned(),
        net_segment_type: None,
        components: Vec::new(),
        ui_settings: JsonMap::new(),
        roles_metadata: JsonMap::new(),
        tags_metadata: JsonMap::new(),
        volumes_roles_mapping: JsonMap::new(),
        editable: map(json!({
            "additional_components": {"murano": {"value": true, "type": "checkbox"}},
            "common": {"debug": {"value": false, "type": "checkbox"}},
            "configs": {"nova": {"value": {"cpu_ratio": 8}}},
        })),
        generated: map(json!({"murano": {"db_password": "generated"}})),
        extensions: Vec::new(),
        is_customized: false,
        is_locked: false,
        merge_order: None,
        merge_mode: None,
        created_at: Micros(0),
    }
}

fn release() -> Release {
    let body = NewRelease {
        name: "Mitaka".to_owned(),
        version: "mitaka-9.0".to_owned(),
        description: None,
        operating_system: "Ubuntu".to_owned(),
        state: ReleaseState::Available,
        modes_metadata: JsonMap::new(),
        roles_metadata: map(json!({
            "controller": {"tags": ["controller", "database"]},
            "compute": {},
            "bare": {"tags": []},
        })),
        tags_metadata: map(
            json!({"controller": {"has_primary": true}, "database": {"has_primary": true}, "compute": {}}),
        ),
        volumes_roles_mapping: JsonMap::new(),
        attributes_metadata: map(json!({"editable": {
            "common": {"debug": {"value": true}, "added_later": {"value": "by the release"}},
        }})),
        networks_metadata: JsonMap::new(),
        volumes_metadata: JsonMap::new(),
        wizard_metadata: JsonMap::new(),
        components_metadata: Vec::new(),
        required_component_types: Vec::new(),
        extensions: Vec::new(),
        extra: JsonMap::new(),
    };
    Release { id: ReleaseId(1), generation: 1, body, created_at: Micros(0) }
}

pub(crate) fn plugin(name: &str) -> EnabledPlugin {
    let body = NewPlugin {
        title: "A plugin".to_owned(),
        attributes_metadata: map(json!({"level": {"value": 1}, "kept": {"value": "as proposed"}})),
        roles_metadata: map(json!({"watcher": {"tags": ["watch"]}, "compute": {"tags": ["hidden"]}})),
        tags_metadata: map(json!({"watch": {"has_primary": true}})),
        ..NewPlugin::new(name, "1.0.0", "5.0.0")
    };
    let plugin = Plugin { id: PluginId(7), generation: 1, body, created_at: Micros(0) };
    EnabledPlugin {
        plugin,
        attributes: map(json!({"level": {"value": 5}})),
        scripts_digest: None,
        repository_digest: None,
    }
}
