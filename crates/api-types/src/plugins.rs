//! Request and response types for plugins.

use serde::{Deserialize, Serialize};
use stoker_diagnostics::Diagnostics;
use stoker_manifest::codes;
use stoker_manifest::graph::{GraphBody, read_tasks_node};
use stoker_manifest::reader::{
    FieldUpdate, Fields, boolean, identifier, json_list, json_map, list_of, string, string_with_length,
};
use stoker_model::{Json, JsonMap, Task};
use stoker_registry::package::{PackageVersion, is_plugin_version};
use stoker_registry::stages::{Stage, describe_code};
use stoker_yaml::Node;
use utoipa::ToSchema;

use crate::embedded_graphs::{graphs, require_single_default};
use crate::request::request;
use crate::{components, metadata};

/// Plugin. Additional fields of the plugin are returned as top-level fields too.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Plugin)]
pub struct PluginView {
    /// ID of the plugin.
    #[schema(example = 4)]
    pub id: i64,
    /// Name of the plugin.
    #[schema(example = "gridnet")]
    pub name: String,
    /// Display name.
    #[schema(example = "GridNet")]
    pub title: String,
    /// Version of the plugin.
    #[schema(example = "1.0.0")]
    pub version: String,
    /// Version of the package format.
    #[schema(example = "5.0.0")]
    pub package_version: String,
    /// Human-readable description.
    pub description: Option<String>,
    /// URL of the homepage.
    pub homepage: Option<String>,
    /// Whether the plugin can be enabled after the first deployment.
    pub is_hotpluggable: bool,
    /// Compatible versions of Fuel.
    pub fuel_version: Vec<String>,
    /// Groups of the plugin, such as `network`.
    pub groups: Vec<String>,
    /// Authors.
    pub authors: Vec<String>,
    /// Licences.
    pub licenses: Vec<String>,
    /// Compatible releases, each with `os` and `version`.
    #[schema(value_type = Vec<Object>)]
    pub releases: Vec<Json>,
    /// Warnings about a request or package. Only present in responses to creations, updates and installations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub warnings: Option<Vec<String>>,
}

/// Result of a synchronization.
#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema)]
#[schema(as = PluginSync)]
pub struct SyncView {
    /// Duplicate YAML keys in the files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub warnings: Vec<String>,
}

request! {
    /// Plugins to synchronize (default: all directories below the plugin root).
    pub struct SyncBody {
        /// IDs of the plugins.
        ids: Option<Vec<i64>> = optional(list_of(identifier)),
    }
}

/// Keys of packages that are stored without a reader.
const STORED: &[&str] = &[
    "bond_attributes_metadata",
    "build_version",
    "network_roles_metadata",
    "nic_attributes_metadata",
    "node_attributes_metadata",
];

request! {
    /// Plugin. A new plugin requires `name`, `title`, `version`, `package_version`, `fuel_version` and
    /// `releases`. Unknown fields are stored unchanged.
    pub struct PluginBody {
        /// Name of the plugin. Cannot be changed.
        #[schema(
            nullable = false,
            example = "gridnet",
            min_length = 1,
            max_length = 255,
            pattern = "^[a-z0-9_-]+$"
        )]
        name: Option<String> = optional(read_name),
        /// Display name.
        #[schema(nullable = false, example = "GridNet", min_length = 1, max_length = 255)]
        title: Option<String> = optional(string_with_length(1..=255)),
        /// Version of the plugin.
        #[schema(nullable = false, example = "1.0.0", min_length = 1, max_length = 255)]
        version: Option<String> = optional(read_version),
        /// Version of the package format.
        #[schema(nullable = false, example = "5.0.0", min_length = 1, max_length = 255)]
        package_version: Option<String> = optional(read_package_version),
        /// Human-readable description.
        #[schema(value_type = Option<String>)]
        description: FieldUpdate<String> = update(string),
        /// URL of the homepage.
        #[schema(value_type = Option<String>)]
        homepage: FieldUpdate<String> = update(string),
        /// Whether the plugin can be enabled after the first deployment.
        #[schema(nullable = false)]
        is_hotpluggable: Option<bool> = optional(boolean),
        /// Compatible versions of Fuel.
        #[schema(nullable = false, example = json!(["10.0"]))]
        fuel_version: Option<Vec<String>> = optional(list_of(string)),
        /// Groups of the plugin, such as `network`.
        #[schema(nullable = false)]
        groups: Option<Vec<String>> = optional(list_of(string)),
        /// Authors.
        #[schema(nullable = false)]
        authors: Option<Vec<String>> = optional(list_of(string)),
        /// Licences.
        #[schema(nullable = false)]
        licenses: Option<Vec<String>> = optional(list_of(string)),
        /// Compatible releases, each with `version`.
        #[schema(nullable = false, value_type = Option<Vec<Object>>, example = json!([{"os": "ubuntu", "version": "newton-10.0", "mode": ["ha"]}]))]
        releases: Option<Vec<Json>> = optional(read_releases),
        /// Settings that the plugin adds.
        #[schema(nullable = false, value_type = Option<Object>)]
        attributes_metadata: Option<JsonMap> = optional(metadata::restricted(json_map)),
        /// Metadata of the roles that the plugin adds, by name.
        #[schema(nullable = false, value_type = Option<Object>)]
        roles_metadata: Option<JsonMap> = optional(metadata::restricted(metadata::roles)),
        /// Metadata of the tags that the plugin adds, by name.
        #[schema(nullable = false, value_type = Option<Object>)]
        tags_metadata: Option<JsonMap> = optional(metadata::tags),
        /// Volumes that the plugin adds.
        #[schema(nullable = false, value_type = Option<Object>)]
        volumes_metadata: Option<JsonMap> = optional(metadata::volumes),
        /// Components that the plugin provides, with their conflicts.
        #[schema(nullable = false, value_type = Option<Vec<Object>>)]
        components_metadata: Option<Vec<Json>> = optional(components::read),
        /// Components with the components that they are compatible with; all others conflict.
        #[schema(nullable = false, value_type = Option<Vec<Object>>)]
        provides: Option<Vec<Json>> = optional(components::read_provided),
        /// Additions to the wizard of releases.
        #[schema(nullable = false, value_type = Option<Object>)]
        wizard_metadata: Option<JsonMap> = in_document(metadata::wizard),
        /// Legacy tasks, ordered by `stage`.
        #[schema(nullable = false, value_type = Option<Vec<Object>>)]
        tasks: Option<Vec<Json>> = fields(read_stage_tasks),
        /// Graphs of the plugin, each with its `type`.
        #[schema(nullable = false, value_type = Option<Vec<Object>>)]
        graphs: Option<Vec<GraphBody>> = in_document(graphs),
        /// Tasks of the graph `default`.
        #[schema(nullable = false, value_type = Option<Vec<Object>>)]
        deployment_tasks: Option<Vec<Task>> = in_document(read_tasks_node),
    }
    // The ID of a new plugin is ignored: a downloaded plugin can be created on another server.
    read_only: "id";
    // `warnings` are those of an earlier request.
    ignored: "warnings";
    user_defined: own(STORED);
    check: |body: &Self, fields: &mut Fields<'_, '_>| {
        require_single_default(body.graphs.as_deref(), body.deployment_tasks.as_deref(), fields);
    };
}

/// Reads the name. It is a key in cluster settings and part of file names.
fn read_name(node: &Node, problems: &mut Diagnostics) -> Option<String> {
    let name = string_with_length(1..=255)(node, problems)?;
    let legal =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "_-".contains(letter);
    if name.chars().all(legal) {
        return Some(name);
    }
    problems.error(codes::FORM, node.span, "must contain only lowercase letters, digits, `-` and `_`");
    None
}

/// Reads the version, which must be numeric to be comparable.
fn read_version(node: &Node, problems: &mut Diagnostics) -> Option<String> {
    let version = string_with_length(1..=255)(node, problems)?;
    if is_plugin_version(&version) {
        return Some(version);
    }
    let message = "must be two or three dot-separated numbers, optionally followed by `aN` or `bN`";
    problems.error(codes::FORM, node.span, message).set_help("for example `1.0.0` or `2.1b3`");
    None
}

/// Reads the package version, which selects the validation rules. Only its first two components are
/// compared.
fn read_package_version(node: &Node, problems: &mut Diagnostics) -> Option<String> {
    let version = string_with_length(1..=255)(node, problems)?;
    let line = |text: &str| text.splitn(3, '.').take(2).map(str::to_owned).collect::<Vec<_>>();
    let is_supported = PackageVersion::ALL.iter().any(|supported| line(supported.as_str()) == line(&version));
    if is_supported && is_plugin_version(&version) {
        return Some(version);
    }
    let supported: Vec<&str> = PackageVersion::ALL.iter().map(|version| version.as_str()).collect();
    problems.error(codes::CHOICE, node.span, format!("must be one of {}", supported.join(", ")));
    None
}

/// Reads the releases that the plugin is compatible with. Unknown fields are retained.
fn read_releases(node: &Node, problems: &mut Diagnostics) -> Option<Vec<Json>> {
    let release = |node: &Node, problems: &mut Diagnostics| {
        let mut fields = Fields::new(node, problems)?;
        let version = fields.required("version", string_with_length(1..=255));
        fields.optional("os", string);
        fields.optional("mode", list_of(string));
        fields.remaining();
        version
    };
    list_of(release)(node, problems)?;
    json_list(node, problems)
}

/// Reads legacy tasks, which are ordered by `stage` instead of dependencies. The package version selects the format of
/// stages.
fn read_stage_tasks(fields: &mut Fields<'_, '_>) -> Option<Vec<Json>> {
    let package_version = fields.node().get("package_version").and_then(Node::as_str).unwrap_or_default();
    let task = |node: &Node, problems: &mut Diagnostics| {
        let task = json_map(node, problems)?;
        let Err(code) = Stage::parse_field(task.get("stage"), package_version) else {
            return Some(Json::Object(task));
        };
        let span = node.get("stage").unwrap_or(node).span;
        problems.in_key("stage", |problems| {
            let help = "expected `pre_deployment` or `post_deployment`, optionally followed by a number: \
                        `post_deployment/100`";
            problems.error(code, span, describe_code(code)).set_help(help);
        });
        None
    };
    fields.optional("tasks", list_of(task))
}
