//! Request and response types for releases.

use serde::{Deserialize, Serialize};
use stoker_diagnostics::Diagnostics;
use stoker_manifest::graph::GraphBody;
use stoker_manifest::reader::{FieldUpdate, Fields, enum_of, json_map, list_of, string, string_with_length};
use stoker_model::{Json, JsonMap, ReleaseState, Task};
use stoker_yaml::Node;
use utoipa::ToSchema;

use crate::embedded_graphs::{release_graphs, release_tasks, require_single_default};
use crate::request::request;
use crate::{components, metadata};

/// Release. Additional fields of the release are returned as top-level fields too.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Release)]
pub struct ReleaseView {
    /// ID of the release.
    #[schema(example = 1)]
    pub id: i64,
    /// Name of the release.
    #[schema(example = "Newton on Ubuntu 16.04")]
    pub name: String,
    /// Version: `<openstack>-<environment>`.
    #[schema(example = "newton-10.0")]
    pub version: String,
    /// Human-readable description.
    pub description: Option<String>,
    /// Operating system of the nodes.
    #[schema(example = "Ubuntu")]
    pub operating_system: String,
    /// State: `available`, `unavailable` or `manageonly`.
    #[schema(example = "available")]
    pub state: String,
    /// Deployment modes.
    #[schema(value_type = Object)]
    pub modes_metadata: JsonMap,
    /// Metadata of roles, by name.
    #[schema(value_type = Object)]
    pub roles_metadata: JsonMap,
    /// Metadata of tags, by name.
    #[schema(value_type = Object)]
    pub tags_metadata: JsonMap,
    /// Default settings of clusters.
    #[schema(value_type = Attributes)]
    pub attributes_metadata: JsonMap,
    /// Components that the release provides.
    #[schema(value_type = Vec<Object>)]
    pub components_metadata: Vec<Json>,
    /// Whether clusters can be created from the release. True unless `state` is `unavailable`.
    pub is_deployable: bool,
    /// Warnings about a request. Only present in responses to creations and updates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub warnings: Option<Vec<String>>,
}

/// Settings of a release.
#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema)]
#[schema(as = ReleaseAttributes)]
#[serde(default)]
pub struct Attributes {
    /// Settings that an operator may change.
    #[schema(required = true, value_type = Object)]
    pub editable: JsonMap,
    /// Settings that are generated once when a cluster is created, such as keys.
    #[schema(required = true, value_type = Object)]
    pub generated: JsonMap,
}

/// Keys of real releases that are stored without a reader.
const STORED: &[&str] = &[
    "bond_attributes",
    "can_update_from_versions",
    "modes",
    "network_roles_metadata",
    "nic_attributes",
    "node_attributes",
    "roles",
    "vmware_attributes_metadata",
];

request! {
    /// Release. A new release requires `name`, `version` and `operating_system`. Unknown fields are stored unchanged and have
    /// no effect; one that resembles a known field is rejected.
    pub struct ReleaseBody {
        /// Name of the release.
        #[schema(nullable = false, example = "Newton on Ubuntu 16.04", min_length = 1, max_length = 255)]
        name: Option<String> = optional(string_with_length(1..=255)),
        /// Version: `<openstack>-<environment>`.
        #[schema(nullable = false, example = "newton-10.0", min_length = 1, max_length = 255)]
        version: Option<String> = optional(string_with_length(1..=255)),
        /// Operating system of the nodes.
        #[schema(nullable = false, example = "Ubuntu", min_length = 1, max_length = 255)]
        operating_system: Option<String> = optional(string_with_length(1..=255)),
        /// Human-readable description.
        #[schema(value_type = Option<String>)]
        description: FieldUpdate<String> = update(string),
        /// State: `available`, `unavailable` or `manageonly`.
        #[schema(nullable = false, example = "available", default = "unavailable", value_type = Option<String>)]
        state: Option<ReleaseState> = optional(enum_of(ReleaseState::NAMES, ReleaseState::parse)),
        /// Deployment modes.
        #[schema(nullable = false, value_type = Option<Object>)]
        modes_metadata: Option<JsonMap> = optional(json_map),
        /// Metadata of roles, by name.
        #[schema(nullable = false, value_type = Option<Object>, example = json!({"compute": {"name": "Compute", "description": "Runs guests"}}))]
        roles_metadata: Option<JsonMap> = optional(metadata::restricted(metadata::roles)),
        /// Metadata of tags, by name.
        #[schema(nullable = false, value_type = Option<Object>, example = json!({"compute": {"has_primary": false}}))]
        tags_metadata: Option<JsonMap> = optional(metadata::tags),
        /// Volumes by role; also accepted as part of `volumes_metadata`.
        #[schema(nullable = false, value_type = Option<Object>)]
        volumes_roles_mapping: Option<JsonMap> = optional(metadata::volumes_of_roles),
        /// Settings: `{editable, generated}`.
        #[schema(nullable = false, value_type = Option<Object>)]
        attributes_metadata: Option<JsonMap> = optional(metadata::restricted(read_attributes)),
        /// Network configuration template of Fuel; stored and returned only.
        #[schema(nullable = false, value_type = Option<Object>)]
        networks_metadata: Option<JsonMap> = optional(json_map),
        /// Volume configuration template.
        #[schema(nullable = false, value_type = Option<Object>)]
        volumes_metadata: Option<JsonMap> = optional(metadata::volumes),
        /// Wizard from which clusters are created; without it, one is generated from the components.
        #[schema(nullable = false, value_type = Option<Object>)]
        wizard_metadata: Option<JsonMap> = in_document(metadata::wizard),
        /// Components that the release provides.
        #[schema(nullable = false, value_type = Option<Vec<Object>>)]
        components_metadata: Option<Vec<Json>> = optional(components::read),
        /// Component types of which clusters must have a component.
        #[schema(nullable = false, example = json!(["hypervisor"]))]
        required_component_types: Option<Vec<String>> = optional(list_of(string)),
        /// Names of extensions, which clusters inherit. Stored and returned only: this server has no extensions.
        #[schema(nullable = false)]
        extensions: Option<Vec<String>> = optional(list_of(string)),
        /// Graphs of the release, each with its `type`.
        #[schema(nullable = false, value_type = Option<Vec<Object>>, example = json!([{"type": "provision", "tasks": []}]))]
        graphs: Option<Vec<GraphBody>> = in_document(release_graphs),
        /// Tasks of the graph `default`.
        #[schema(nullable = false, value_type = Option<Vec<Object>>)]
        deployment_tasks: Option<Vec<Task>> = in_document(release_tasks),
    }
    // The ID of a new release is ignored: a downloaded release can be created on another server.
    read_only: "id", "is_deployable";
    // `warnings` are those of an earlier request.
    ignored: "warnings";
    user_defined: own(STORED);
    check: |body: &Self, fields: &mut Fields<'_, '_>| {
        require_single_default(body.graphs.as_deref(), body.deployment_tasks.as_deref(), fields);
    };
}

/// Reads the settings: `editable` and `generated` must be maps if present.
fn read_attributes(node: &Node, problems: &mut Diagnostics) -> Option<JsonMap> {
    let mut fields = Fields::new(node, problems)?;
    fields.optional("editable", json_map);
    fields.optional("generated", json_map);
    fields.remaining();
    json_map(node, problems)
}
