//! Parsing of release bodies. An update contains any subset of the fields; a new release is an update of an
//! empty one.

use stoker_diagnostics::Diagnostic;
use stoker_manifest::codes;
use stoker_manifest::reader::{Fields, enum_of, json_map, list_of, string, string_with_length};
use stoker_model::{Json, JsonMap, NewRelease, ReleaseState};
use stoker_registry::package::{check_wizard, warn_about_placeholders};
use stoker_services::metadata::embedded_graphs::EmbeddedGraphs;
use stoker_services::metadata::{components, sections};
use stoker_services::releases::ReleaseUpdate;
use utoipa::ToSchema;

use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult, render_error_item};
use crate::http::response::{WARNINGS, warning_texts};

/// Fields of responses that a request may repeat, but not change. The ID of a new release is ignored: a downloaded release can
/// be created on another server.
pub(super) const READ_ONLY: &[&str] = &["id", "is_deployable"];

/// Fields that a request may contain: those that it may repeat, and the warnings of an earlier response.
const IGNORED: &[&str] = &["id", "is_deployable", WARNINGS];

/// Required fields of a new release, with the error messages that Fuel's clients expect.
const REQUIRED: [(&str, &str); 3] = [
    ("name", "No release name specified"),
    ("version", "No release version specified"),
    ("operating_system", "No release operating system specified"),
];

/// Parses a new release and checks that the required fields are present. Also returns the warnings.
pub(super) fn read_new(document: &Document) -> ApiResult<(NewRelease, EmbeddedGraphs, Vec<String>)> {
    let mut missing: Vec<(&str, &str)> = Vec::new();
    let mut n_other_errors = 0;
    let update = document.fields_with_warnings(|fields| {
        fields.ignore(IGNORED);
        let update = read_fields(fields, document.text());
        n_other_errors = fields.problems().n_errors();
        let node = fields.node();
        missing.extend(REQUIRED.iter().filter(|(key, _)| node.get(key).is_none()));
        for (key, message) in &missing {
            fields.problems().in_key(key, |problems| _ = problems.error(codes::MISSING, node.span, *message));
        }
        let required = (update.name.clone(), update.version.clone(), update.operating_system.clone());
        let (Some(name), Some(version), Some(operating_system)) = required else { return None };
        Some((empty(name, version, operating_system), update))
    });
    // Clients of Fuel compare the message, so it has no other content if no other field is invalid.
    if !missing.is_empty() && n_other_errors == 0 {
        return Err(only_missing(&missing));
    }
    let ((mut release, update), warnings) = update?;
    let graphs = update.apply(&mut release);
    Ok((release, graphs, warning_texts(&warnings)))
}

/// Parses an update of a release. Also returns the warnings.
pub(super) fn read_change(document: &Document) -> ApiResult<(ReleaseUpdate, Vec<String>)> {
    let (update, warnings) = document.fields_with_warnings(|fields| {
        fields.ignore(IGNORED);
        Some(read_fields(fields, document.text()))
    })?;
    Ok((update, warning_texts(&warnings)))
}

fn only_missing(missing: &[(&str, &str)]) -> ApiError {
    let messages: Vec<&str> = missing.iter().map(|(_, message)| *message).collect();
    missing.iter().fold(ApiError::bad_request(messages.join("\n")), |error, (key, message)| {
        error.with_item(render_error_item(Diagnostic::error(codes::MISSING, *message).path(*key)))
    })
}

fn read_fields(fields: &mut Fields<'_, '_>, text: &str) -> ReleaseUpdate {
    ReleaseUpdate {
        name: fields.optional("name", string_with_length(1..=255)),
        version: fields.optional("version", string_with_length(1..=255)),
        operating_system: fields.optional("operating_system", string_with_length(1..=255)),
        description: fields.update("description", string),
        state: fields.optional("state", enum_of(ReleaseState::NAMES, ReleaseState::parse)),
        modes_metadata: fields.optional("modes_metadata", json_map),
        roles_metadata: fields.optional("roles_metadata", restricted(sections::roles)),
        tags_metadata: fields.optional("tags_metadata", sections::tags),
        volumes_roles_mapping: fields.optional("volumes_roles_mapping", sections::volumes_of_roles),
        attributes_metadata: fields.optional("attributes_metadata", restricted(attributes)),
        networks_metadata: fields.optional("networks_metadata", json_map),
        volumes_metadata: fields.optional("volumes_metadata", sections::volumes),
        wizard_metadata: fields.optional("wizard_metadata", |node, problems| wizard(node, text, problems)),
        components_metadata: fields.optional("components_metadata", components::read),
        required_component_types: fields.optional("required_component_types", list_of(string)),
        extensions: fields.optional("extensions", list_of(string)),
        graphs: EmbeddedGraphs::read_release(fields, text),
        own: sections::own_fields(fields, STORED),
    }
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

/// Parses the wizard, with the same validation as the wizards of plugins.
fn wizard(
    node: &stoker_yaml::Node,
    text: &str,
    problems: &mut stoker_diagnostics::Diagnostics,
) -> Option<JsonMap> {
    check_wizard(node, text, problems);
    json_map(node, problems)
}

/// Warns about restrictions without an effect in a document that another reader reads.
fn restricted<T>(
    read: impl Fn(&stoker_yaml::Node, &mut stoker_diagnostics::Diagnostics) -> Option<T>,
) -> impl Fn(&stoker_yaml::Node, &mut stoker_diagnostics::Diagnostics) -> Option<T> {
    move |node, problems| {
        warn_about_placeholders(node, problems);
        read(node, problems)
    }
}

/// Parses the settings: `editable` and `generated` must be maps if present.
fn attributes(node: &stoker_yaml::Node, problems: &mut stoker_diagnostics::Diagnostics) -> Option<JsonMap> {
    let mut fields = Fields::new(node, problems)?;
    fields.optional("editable", json_map);
    fields.optional("generated", json_map);
    fields.remaining();
    json_map(node, problems)
}

fn empty(name: String, version: String, operating_system: String) -> NewRelease {
    NewRelease {
        name,
        version,
        operating_system,
        description: None,
        state: ReleaseState::Unavailable,
        modes_metadata: JsonMap::new(),
        roles_metadata: JsonMap::new(),
        tags_metadata: JsonMap::new(),
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

/// Release. A new release requires `name`, `version` and `operating_system`. Unknown fields are stored unchanged and have
/// no effect; one that resembles a known field is rejected.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
pub(super) struct ReleaseBody {
    /// Name of the release.
    #[schema(nullable = false, example = "Newton on Ubuntu 16.04", min_length = 1, max_length = 255)]
    name: Option<String>,
    /// Version: `<openstack>-<environment>`.
    #[schema(nullable = false, example = "newton-10.0", min_length = 1, max_length = 255)]
    version: Option<String>,
    /// Operating system of the nodes.
    #[schema(nullable = false, example = "Ubuntu", min_length = 1, max_length = 255)]
    operating_system: Option<String>,
    /// Human-readable description.
    description: Option<String>,
    /// State: `available`, `unavailable` or `manageonly`.
    #[schema(nullable = false, example = "available", default = "unavailable")]
    state: Option<String>,
    /// Deployment modes.
    #[schema(nullable = false, value_type = Option<Object>)]
    modes_metadata: Option<JsonMap>,
    /// Metadata of roles, by name.
    #[schema(nullable = false, value_type = Option<Object>, example = json!({"compute": {"name": "Compute", "description": "Runs guests"}}))]
    roles_metadata: Option<JsonMap>,
    /// Metadata of tags, by name.
    #[schema(nullable = false, value_type = Option<Object>, example = json!({"compute": {"has_primary": false}}))]
    tags_metadata: Option<JsonMap>,
    /// Volumes by role; also accepted as part of `volumes_metadata`.
    #[schema(nullable = false, value_type = Option<Object>)]
    volumes_roles_mapping: Option<JsonMap>,
    /// Settings: `{editable, generated}`.
    #[schema(nullable = false, value_type = Option<Object>)]
    attributes_metadata: Option<JsonMap>,
    /// Network configuration template of Fuel; stored and returned only.
    #[schema(nullable = false, value_type = Option<Object>)]
    networks_metadata: Option<JsonMap>,
    /// Volume configuration template.
    #[schema(nullable = false, value_type = Option<Object>)]
    volumes_metadata: Option<JsonMap>,
    /// Wizard from which clusters are created; without it, one is generated from the components.
    #[schema(nullable = false, value_type = Option<Object>)]
    wizard_metadata: Option<JsonMap>,
    /// Components that the release provides.
    #[schema(nullable = false, value_type = Option<Vec<Object>>)]
    components_metadata: Option<Vec<Json>>,
    /// Component types of which clusters must have a component.
    #[schema(nullable = false, example = json!(["hypervisor"]))]
    required_component_types: Option<Vec<String>>,
    /// Names of extensions, which clusters inherit. Stored and returned only: this server has no extensions.
    #[schema(nullable = false)]
    extensions: Option<Vec<String>>,
    /// Graphs of the release, each with its `type`.
    #[schema(nullable = false, value_type = Option<Vec<Object>>, example = json!([{"type": "provision", "tasks": []}]))]
    graphs: Option<Vec<Json>>,
    /// Tasks of the graph `default`.
    #[schema(nullable = false, value_type = Option<Vec<Object>>)]
    deployment_tasks: Option<Vec<Json>>,
}
