//! Parsing of plugin bodies. An update contains any subset of the fields; a new plugin is an update of an
//! empty one.

use stoker_diagnostics::Diagnostics;
use stoker_manifest::codes;
use stoker_manifest::reader::{Fields, boolean, json_list, json_map, list_of, string, string_with_length};
use stoker_model::{Json, JsonMap, NewPlugin};
use stoker_registry::package::{PackageVersion, check_wizard, is_plugin_version, warn_about_placeholders};
use stoker_registry::stages::{Stage, describe_code};
use stoker_services::metadata::embedded_graphs::EmbeddedGraphs;
use stoker_services::metadata::{components, sections};
use stoker_services::plugins::PluginUpdate;
use stoker_yaml::Node;
use utoipa::ToSchema;

use crate::http::body::Document;
use crate::http::error::ApiResult;
use crate::http::response::{WARNINGS, warning_texts};

/// Fields of responses that an update may repeat, but not change. The ID of a new plugin is ignored: a downloaded plugin can
/// be created on another server.
pub(super) const READ_ONLY: &[&str] = &["id"];

/// Fields that a request may contain: those that it may repeat, and the warnings of an earlier response.
const IGNORED: &[&str] = &["id", WARNINGS];

const REQUIRED: [&str; 6] = ["name", "title", "version", "package_version", "fuel_version", "releases"];

/// Parses a new plugin and checks that the required fields are present. Also returns the warnings.
pub(super) fn read_new(document: &Document) -> ApiResult<(NewPlugin, EmbeddedGraphs, Vec<String>)> {
    let (update, warnings) = document.fields_with_warnings(|fields| {
        fields.ignore(IGNORED);
        let update = read_fields(fields, document.text());
        let node = fields.node();
        for key in REQUIRED.into_iter().filter(|key| node.get(key).is_none()) {
            fields.problems().in_key(key, |problems| {
                problems.error(codes::MISSING, node.span, format!("`{key}` is missing"));
            });
        }
        Some(update)
    })?;
    let mut plugin = NewPlugin::default();
    let graphs = update.apply(&mut plugin);
    Ok((plugin, graphs, warning_texts(&warnings)))
}

/// Parses an update of a plugin. Also returns the warnings.
pub(super) fn read_change(document: &Document) -> ApiResult<(PluginUpdate, Vec<String>)> {
    let (update, warnings) = document.fields_with_warnings(|fields| {
        fields.ignore(IGNORED);
        Some(read_fields(fields, document.text()))
    })?;
    Ok((update, warning_texts(&warnings)))
}

fn read_fields(fields: &mut Fields<'_, '_>, text: &str) -> PluginUpdate {
    let extra = extra_documents(fields, text);
    let package_version = fields.node().get("package_version").and_then(Node::as_str).unwrap_or_default();
    PluginUpdate {
        name: fields.optional("name", plugin_name),
        title: fields.optional("title", string_with_length(1..=255)),
        version: fields.optional("version", plugin_version),
        package_version: fields.optional("package_version", supported_package_version),
        description: fields.update("description", string),
        homepage: fields.update("homepage", string),
        is_hotpluggable: fields.optional("is_hotpluggable", boolean),
        fuel_version: fields.optional("fuel_version", list_of(string)),
        groups: fields.optional("groups", list_of(string)),
        authors: fields.optional("authors", list_of(string)),
        licenses: fields.optional("licenses", list_of(string)),
        releases: fields.optional("releases", releases),
        attributes_metadata: fields.optional("attributes_metadata", restricted(json_map)),
        roles_metadata: fields.optional("roles_metadata", restricted(sections::roles)),
        tags_metadata: fields.optional("tags_metadata", sections::tags),
        volumes_metadata: fields.optional("volumes_metadata", sections::volumes),
        components_metadata: fields.optional("components_metadata", components::read),
        tasks: fields.optional("tasks", |node, problems| stage_tasks(node, package_version, problems)),
        graphs: EmbeddedGraphs::read(fields, text),
        own: extra.into_iter().chain(sections::own_fields(fields, STORED)).collect(),
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

/// Warns about restrictions without an effect in a document that another reader reads.
fn restricted<T>(
    read: impl Fn(&Node, &mut Diagnostics) -> Option<T>,
) -> impl Fn(&Node, &mut Diagnostics) -> Option<T> {
    move |node, problems| {
        warn_about_placeholders(node, problems);
        read(node, problems)
    }
}

/// Parses the name. It is a key in cluster settings and part of file names.
fn plugin_name(node: &Node, problems: &mut Diagnostics) -> Option<String> {
    let name = string_with_length(1..=255)(node, problems)?;
    let legal =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "_-".contains(letter);
    if name.chars().all(legal) {
        return Some(name);
    }
    problems.error(codes::FORM, node.span, "must contain only lowercase letters, digits, `-` and `_`");
    None
}

/// Parses the version, which must be numeric to be comparable.
fn plugin_version(node: &Node, problems: &mut Diagnostics) -> Option<String> {
    let version = string_with_length(1..=255)(node, problems)?;
    if is_plugin_version(&version) {
        return Some(version);
    }
    let message = "must be two or three dot-separated numbers, optionally followed by `aN` or `bN`";
    problems.error(codes::FORM, node.span, message).set_help("for example `1.0.0` or `2.1b3`");
    None
}

/// Parses the package version, which selects the validation rules. Only its first two components are
/// compared.
fn supported_package_version(node: &Node, problems: &mut Diagnostics) -> Option<String> {
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

/// Parses the releases that the plugin is compatible with. Unknown fields are retained.
fn releases(node: &Node, problems: &mut Diagnostics) -> Option<Vec<Json>> {
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

/// Parses the package documents that are stored in `extra`: a plugin has no field for them.
fn extra_documents(fields: &mut Fields<'_, '_>, text: &str) -> JsonMap {
    let provides = fields.optional("provides", components::read_provided).map(Json::Array);
    let wizard = |node: &Node, problems: &mut Diagnostics| {
        check_wizard(node, text, problems);
        json_map(node, problems)
    };
    let wizard = fields.optional("wizard_metadata", wizard).map(Json::Object);
    let extra = [("provides", provides), ("wizard_metadata", wizard)];
    extra.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}

/// Parses legacy tasks, which are ordered by `stage` instead of dependencies.
fn stage_tasks(node: &Node, package_version: &str, problems: &mut Diagnostics) -> Option<Vec<Json>> {
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
    list_of(task)(node, problems)
}

/// Plugin. A new plugin requires `name`, `title`, `version`, `package_version`, `fuel_version` and
/// `releases`. Unknown fields are stored unchanged.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
pub(super) struct PluginBody {
    /// Name of the plugin. Cannot be changed.
    #[schema(
        nullable = false,
        example = "gridnet",
        min_length = 1,
        max_length = 255,
        pattern = "^[a-z0-9_-]+$"
    )]
    name: Option<String>,
    /// Display name.
    #[schema(nullable = false, example = "GridNet", min_length = 1, max_length = 255)]
    title: Option<String>,
    /// Version of the plugin.
    #[schema(nullable = false, example = "1.0.0", min_length = 1, max_length = 255)]
    version: Option<String>,
    /// Version of the package format.
    #[schema(nullable = false, example = "5.0.0", min_length = 1, max_length = 255)]
    package_version: Option<String>,
    /// Human-readable description.
    description: Option<String>,
    /// URL of the homepage.
    homepage: Option<String>,
    /// Whether the plugin can be enabled after the first deployment.
    #[schema(nullable = false)]
    is_hotpluggable: Option<bool>,
    /// Compatible versions of Fuel.
    #[schema(nullable = false, example = json!(["10.0"]))]
    fuel_version: Option<Vec<String>>,
    /// Groups of the plugin, such as `network`.
    #[schema(nullable = false)]
    groups: Option<Vec<String>>,
    /// Authors.
    #[schema(nullable = false)]
    authors: Option<Vec<String>>,
    /// Licences.
    #[schema(nullable = false)]
    licenses: Option<Vec<String>>,
    /// Compatible releases, each with `version`.
    #[schema(nullable = false, value_type = Option<Vec<Object>>, example = json!([{"os": "ubuntu", "version": "newton-10.0", "mode": ["ha"]}]))]
    releases: Option<Vec<Json>>,
    /// Settings that the plugin adds.
    #[schema(nullable = false, value_type = Option<Object>)]
    attributes_metadata: Option<JsonMap>,
    /// Metadata of the roles that the plugin adds, by name.
    #[schema(nullable = false, value_type = Option<Object>)]
    roles_metadata: Option<JsonMap>,
    /// Metadata of the tags that the plugin adds, by name.
    #[schema(nullable = false, value_type = Option<Object>)]
    tags_metadata: Option<JsonMap>,
    /// Volumes that the plugin adds.
    #[schema(nullable = false, value_type = Option<Object>)]
    volumes_metadata: Option<JsonMap>,
    /// Components that the plugin provides, with their conflicts.
    #[schema(nullable = false, value_type = Option<Vec<Object>>)]
    components_metadata: Option<Vec<Json>>,
    /// Components with the components that they are compatible with; all others conflict.
    #[schema(nullable = false, value_type = Option<Vec<Object>>)]
    provides: Option<Vec<Json>>,
    /// Additions to the wizard of releases.
    #[schema(nullable = false, value_type = Option<Object>)]
    wizard_metadata: Option<JsonMap>,
    /// Legacy tasks, ordered by `stage`.
    #[schema(nullable = false, value_type = Option<Vec<Object>>)]
    tasks: Option<Vec<Json>>,
    /// Graphs of the plugin, each with its `type`.
    #[schema(nullable = false, value_type = Option<Vec<Object>>)]
    graphs: Option<Vec<Json>>,
    /// Tasks of the graph `default`.
    #[schema(nullable = false, value_type = Option<Vec<Object>>)]
    deployment_tasks: Option<Vec<Json>>,
}
