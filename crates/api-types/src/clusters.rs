//! Request and response types for clusters.

use serde::{Deserialize, Serialize};
use stoker_diagnostics::Diagnostics;
use stoker_manifest::codes;
use stoker_manifest::reader::{
    FieldUpdate, enum_of, identifier, json_map, list_of, one_of, string_with_length,
};
use stoker_model::{CLUSTER_MODES, Json, JsonMap, MergeMode, MergeOrder, ReleaseId, TenantRef};
use stoker_yaml::{Node, NodeKind, Scalar};
use utoipa::ToSchema;

use crate::error::ErrorItem;
use crate::request::request;
use crate::transactions::RunView;
use crate::users::read_tenant;

const NAME_CHARS_MAX: usize = 255;

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = ClusterOverview)]
pub struct OverviewView {
    /// ID of the cluster.
    #[schema(example = 3)]
    pub id: i64,
    /// Number of nodes.
    #[schema(example = 10000)]
    pub n_nodes: i64,
    /// Number of nodes that are online.
    #[schema(example = 9998)]
    pub n_online: i64,
    /// Last deployment; null if there is none.
    pub last_run: Option<RunView>,
}

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Cluster)]
pub struct ClusterView {
    #[schema(example = 3)]
    pub id: i64,
    #[schema(example = "demo")]
    pub name: String,
    /// `new`, `deployment`, `stopped`, `operational`, `error`, `remove` or `partially_deployed`.
    #[schema(example = "new")]
    pub status: String,
    #[schema(example = 1)]
    pub release_id: i64,
    /// `ha_compact`, `ha_full` or `multinode`.
    #[schema(example = "ha_compact")]
    pub mode: String,
    #[schema(example = "neutron")]
    pub net_provider: String,
    /// Network segmentation: set at creation, bound by a component or a wizard answer, or that of the network component.
    #[schema(example = "vlan")]
    pub net_segment_type: String,
    /// Always empty, for compatibility; create a plan to see changes.
    pub changes: Vec<Json>,
    /// Whether facts were uploaded to replace the computed ones.
    pub is_customized: bool,
    pub fuel_version: String,
    /// Whether the settings are locked; locked settings can only be changed with `force`.
    pub is_locked: bool,
    /// Names of the selected components.
    pub components: Vec<String>,
    /// Settings of user interfaces; stored and returned only.
    #[schema(value_type = Object)]
    pub ui_settings: JsonMap,
    /// Name of the tenant.
    #[schema(example = "admin")]
    pub tenant: Option<String>,
    pub tenant_id: i64,
    /// Order in which graph layers are merged, lowest precedence first; null selects the server default.
    #[schema(example = "release,cluster,plugins")]
    pub merge_order: Option<String>,
    /// Merge mode: the scope of overrides by a layer of higher precedence; null for the default of the
    /// server.
    #[schema(example = "attributes")]
    pub merge_mode: Option<String>,
    pub created_at: String,
}

request! {
    /// Request body to create a cluster.
    pub struct NewClusterBody {
        #[schema(example = "demo", min_length = 1, max_length = 255)]
        name: String = required(string_with_length(1..=NAME_CHARS_MAX)),
        /// ID of the release. Required, unless `release` is set.
        #[schema(example = 1, value_type = Option<i64>)]
        release_id: Option<ReleaseRef> = nullable(read_release),
        /// Alias of `release_id`.
        #[schema(value_type = Option<i64>)]
        release: Option<ReleaseRef> = nullable(read_release),
        /// Mode that the release supports: `ha_compact`, `ha_full` or `multinode` (default: the first supported
        /// mode).
        #[schema(example = "ha_compact")]
        mode: Option<&'static str> = nullable(one_of(CLUSTER_MODES)),
        #[schema(example = "neutron", min_length = 1, max_length = 255)]
        net_provider: Option<String> = nullable(string_with_length(1..=NAME_CHARS_MAX)),
        /// Network segmentation, unless a component or a wizard answer binds it.
        #[schema(example = "vlan")]
        net_segment_type: Option<String> = nullable(string_with_length(0..=NAME_CHARS_MAX)),
        /// IDs of the initial nodes.
        #[schema(example = json!([]))]
        nodes: Option<Vec<i64>> = nullable(list_of(identifier)),
        /// For compatibility: must be empty. Tasks are part of graphs.
        #[schema(value_type = Option<Vec<Object>>, example = json!([]), max_items = 0)]
        tasks: Option<()> = nullable(read_no_tasks),
        /// Names of the selected components, which must be compatible.
        #[schema(example = json!(["hypervisor:qemu"]))]
        components: Option<Vec<String>> = nullable(read_names),
        /// Answers to the wizard of the release: `{Pane: {control: value}}`. Controls without an answer have
        /// their default.
        #[schema(value_type = Option<Object>, example = json!({"Compute": {"hypervisor": "qemu"}}))]
        wizard: Option<JsonMap> = nullable(json_map),
        /// State of the web interface of Fuel; stored and returned only.
        #[schema(value_type = Option<Object>)]
        ui_settings: Option<JsonMap> = nullable(json_map),
        /// Name or ID of the tenant (default: the tenant of the caller).
        #[schema(example = "admin", value_type = Option<String>)]
        tenant: Option<TenantRef> = nullable(read_tenant),
        #[schema(example = "release,cluster,plugins", value_type = Option<String>)]
        merge_order: Option<MergeOrder> = nullable(enum_of(MergeOrder::NAMES, MergeOrder::parse)),
        #[schema(example = "attributes", value_type = Option<String>)]
        merge_mode: Option<MergeMode> = nullable(enum_of(MergeMode::NAMES, MergeMode::parse)),
    }
}

request! {
    /// Request body to update a cluster. Omitted fields are unchanged. Read-only fields of responses are accepted if they
    /// equal the stored values.
    pub struct ClusterBody {
        #[schema(nullable = false, example = "demo", min_length = 1, max_length = 255)]
        name: Option<String> = optional(string_with_length(1..=NAME_CHARS_MAX)),
        /// ID of the release. Another release moves the cluster; `POST release/preview` shows what follows.
        #[schema(example = 2, value_type = Option<i64>)]
        release_id: Option<ReleaseRef> = nullable(read_release),
        /// Alias of `release_id`.
        #[schema(value_type = Option<i64>)]
        release: Option<ReleaseRef> = nullable(read_release),
        #[schema(nullable = false, example = "ha_compact")]
        mode: Option<&'static str> = optional(one_of(CLUSTER_MODES)),
        /// IDs of all nodes of the cluster: missing nodes are removed, new nodes are added without roles.
        #[schema(nullable = false)]
        nodes: Option<Vec<i64>> = optional(list_of(identifier)),
        /// Components of the cluster. Immutable: if present, must equal the current value.
        #[schema(nullable = false)]
        components: Option<Vec<String>> = optional(read_names),
        /// State of the web interface of Fuel; stored and returned only.
        #[schema(nullable = false, value_type = Option<Object>)]
        ui_settings: Option<JsonMap> = optional(json_map),
        /// Name or ID of the tenant.
        #[schema(example = "admin", value_type = Option<String>)]
        tenant: Option<TenantRef> = nullable(read_tenant),
        /// Order in which graph layers are merged; null selects the server default.
        #[schema(example = "release,plugins,cluster", value_type = Option<String>)]
        merge_order: FieldUpdate<MergeOrder> = update(enum_of(MergeOrder::NAMES, MergeOrder::parse)),
        /// Merge mode: the scope of overrides by a layer of higher precedence; null for the default of the
        /// server.
        #[schema(example = "replace", value_type = Option<String>)]
        merge_mode: FieldUpdate<MergeMode> = update(enum_of(MergeMode::NAMES, MergeMode::parse)),
    }
    read_only: "id", "status", "net_provider", "net_segment_type", "changes", "is_customized", "fuel_version", "is_locked", "tenant_id", "created_at";
}

request! {
    /// Request body to show what follows when a cluster moves to another release.
    pub struct ReleaseMoveBody {
        /// ID of the new release.
        #[schema(example = 2, minimum = 1)]
        release_id: i64 = required(identifier),
        /// New mode (default: the current one).
        #[schema(nullable = false, example = "ha_compact")]
        mode: Option<&'static str> = optional(one_of(CLUSTER_MODES)),
    }
}

/// What follows when a cluster moves to another release.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = ReleaseMove)]
pub struct ReleaseMoveView {
    pub from: ReleaseMoveEnd,
    pub to: ReleaseMoveEnd,
    /// Mode after the change.
    #[schema(example = "ha_compact")]
    pub mode: String,
    /// Differences of the merged graphs by graph type; types without differences are omitted.
    pub graphs: Vec<GraphMove>,
    /// Settings that change or whose changed values are kept.
    pub settings: Vec<SettingMove>,
    pub roles: RoleMove,
    /// Enabled plugins, and plugins that become available or unavailable.
    pub plugins: Vec<PluginMove>,
    /// Reasons that refuse the change; empty if it is possible.
    pub errors: Vec<ErrorItem>,
    /// Limits of roles that the nodes of the cluster violate after the change.
    pub warnings: Vec<ErrorItem>,
}

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ReleaseMoveEnd {
    #[schema(example = 1)]
    pub id: i64,
    #[schema(example = "Newton on Ubuntu 16.04")]
    pub name: String,
    #[schema(example = "newton-10.0")]
    pub version: String,
}

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct GraphMove {
    /// Graph type.
    #[serde(rename = "type")]
    #[schema(example = "default")]
    pub graph_type: String,
    /// IDs of tasks that only the new merged graph has.
    pub added: Vec<String>,
    /// IDs of tasks that only the current merged graph has.
    pub removed: Vec<String>,
    pub changed: Vec<TaskMove>,
}

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct TaskMove {
    #[schema(example = "install")]
    pub id: String,
    /// Fields whose values differ.
    #[schema(example = json!(["parameters"]))]
    pub fields: Vec<String>,
}

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct SettingMove {
    /// Path in the settings.
    #[schema(example = "common.debug.value")]
    pub path: String,
    /// `kept`: a changed value stays; `dropped`: the new release does not have the setting; `replaced`: the value is not
    /// valid in the new release, which sets its default; `added`: a new setting; `defaulted`: an unchanged value takes the
    /// new default.
    #[schema(example = "kept")]
    pub change: String,
    /// Current value; absent for secrets and new settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Json>,
    /// Value after the change; absent for secrets and dropped settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<Json>,
    /// Why a value is replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct RoleMove {
    pub added: Vec<String>,
    pub removed: Vec<String>,
}

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct PluginMove {
    #[schema(example = "gridnet")]
    pub name: String,
    #[schema(example = "1.0.0")]
    pub version: String,
    /// `kept` or `replaced` (by `new_version`) for enabled plugins, `incompatible` if no version fits, which refuses the
    /// change; `available` or `unavailable` for others.
    #[schema(example = "kept")]
    pub change: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_version: Option<String>,
}

/// Release ID, or a value that is not a valid ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReleaseRef {
    Id(ReleaseId),
    Invalid,
}

/// Reads a release ID. Older clients send IDs as strings.
pub fn read_release(node: &Node, _: &mut Diagnostics) -> Option<ReleaseRef> {
    Some(match &node.kind {
        NodeKind::Scalar(Scalar::Int(id)) if *id > 0 => ReleaseRef::Id(ReleaseId(*id)),
        NodeKind::Scalar(Scalar::Str(text)) => {
            ReleaseId::parse(text.trim()).map_or(ReleaseRef::Invalid, ReleaseRef::Id)
        }
        _ => ReleaseRef::Invalid,
    })
}

fn read_names(node: &Node, problems: &mut Diagnostics) -> Option<Vec<String>> {
    list_of(string_with_length(1..=NAME_CHARS_MAX))(node, problems)
}

/// Reads the tasks of a new cluster: Fuel's client always sends an empty list.
fn read_no_tasks(node: &Node, problems: &mut Diagnostics) -> Option<()> {
    if matches!(&node.kind, NodeKind::Seq(items) if items.is_empty()) {
        return Some(());
    }
    problems
        .error(codes::FORM, node.span, "a cluster is created without tasks; this list must be empty")
        .set_help("upload the tasks as a graph: PUT /clusters/{id}/deployment_tasks/");
    None
}
