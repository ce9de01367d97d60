//! What may be said about a plugin: on its own as a change, and on top of nothing as a new one.

use stoker_manifest::reader::{Fields, Given, boolean, json_list, json_map, list_of, string, string_of};
use stoker_manifest::{Problems, codes};
use stoker_model::{Json, JsonMap, NewPlugin};
use stoker_registry::package::{PackageVersion, is_plugin_version};
use stoker_registry::stages::{Stage, meaning};
use stoker_yaml::Node;
use utoipa::ToSchema;
use stoker_services::metadata::embedded_graphs::EmbeddedGraphs;
use stoker_services::metadata::{components, sections};

use crate::http::body::Document;
use crate::http::error::ApiResult;

const REQUIRED: [&str; 6] = ["name", "title", "version", "package_version", "fuel_version", "releases"];

/// A plugin as somebody wrote it. What was not said is absent, so that an update leaves it alone.
pub(super) struct Said {
    pub(super) name: Option<String>,
    title: Option<String>,
    version: Option<String>,
    package_version: Option<String>,
    description: Given<String>,
    homepage: Given<String>,
    is_hotpluggable: Option<bool>,
    fuel_version: Option<Vec<String>>,
    groups: Option<Vec<String>>,
    authors: Option<Vec<String>>,
    licenses: Option<Vec<String>>,
    releases: Option<Vec<Json>>,
    attributes_metadata: Option<JsonMap>,
    pub(super) roles_metadata: Option<JsonMap>,
    tags_metadata: Option<JsonMap>,
    volumes_metadata: Option<JsonMap>,
    components_metadata: Option<Vec<Json>>,
    tasks: Option<Vec<Json>>,
    own: JsonMap,
    graphs: EmbeddedGraphs,
}

/// Reads a new plugin: what it must say is there.
pub(super) fn read_new(document: &Document) -> ApiResult<(NewPlugin, EmbeddedGraphs)> {
    let said = document.fields(|fields| {
        let said = read_fields(fields, document.text());
        let node = fields.node();
        for key in REQUIRED.into_iter().filter(|key| node.get(key).is_none()) {
            fields.problems().in_key(key, |problems| {
                problems.error(codes::MISSING, node.span, format!("`{key}` is missing"));
            });
        }
        Some(said)
    })?;
    let mut plugin = NewPlugin::default();
    let graphs = said.apply(&mut plugin);
    Ok((plugin, graphs))
}

/// Reads a change of a plugin.
pub(super) fn read_change(document: &Document) -> ApiResult<Said> {
    document.fields(|fields| Some(read_fields(fields, document.text())))
}

fn read_fields(fields: &mut Fields<'_, '_>, text: &str) -> Said {
    // It comes with an answer of ours.
    fields.ignore(&["id"]);
    let beside = kept_beside(fields);
    let package_version = fields.node().get("package_version").and_then(Node::as_str).unwrap_or_default();
    Said {
        name: fields.optional("name", plugin_name),
        title: fields.optional("title", string_of(1..=255)),
        version: fields.optional("version", plugin_version),
        package_version: fields.optional("package_version", known_package_version),
        description: fields.given("description", string),
        homepage: fields.given("homepage", string),
        is_hotpluggable: fields.optional("is_hotpluggable", boolean),
        fuel_version: fields.optional("fuel_version", list_of(string)),
        groups: fields.optional("groups", list_of(string)),
        authors: fields.optional("authors", list_of(string)),
        licenses: fields.optional("licenses", list_of(string)),
        releases: fields.optional("releases", releases),
        attributes_metadata: fields.optional("attributes_metadata", json_map),
        roles_metadata: fields.optional("roles_metadata", sections::roles),
        tags_metadata: fields.optional("tags_metadata", sections::tags),
        volumes_metadata: fields.optional("volumes_metadata", sections::volumes),
        components_metadata: fields.optional("components_metadata", components::read),
        tasks: fields.optional("tasks", |node, problems| stage_tasks(node, package_version, problems)),
        graphs: EmbeddedGraphs::read(fields, text),
        own: beside.into_iter().chain(sections::own_fields(fields)).collect(),
    }
}

/// The name is a key of the settings of clusters, and a part of file names.
fn plugin_name(node: &Node, problems: &mut Problems) -> Option<String> {
    let name = string_of(1..=255)(node, problems)?;
    let legal =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "_-".contains(letter);
    if name.chars().all(legal) {
        return Some(name);
    }
    problems.error(codes::FORM, node.span, "may have lower-case letters, digits, `-` and `_` only");
    None
}

/// Versions are compared as numbers.
fn plugin_version(node: &Node, problems: &mut Problems) -> Option<String> {
    let version = string_of(1..=255)(node, problems)?;
    if is_plugin_version(&version) {
        return Some(version);
    }
    let message = "must be two or three numbers with dots, and `aN` or `bN` behind if wanted";
    problems.error(codes::FORM, node.span, message).help("as in `1.0.0` or `2.1b3`".to_owned());
    None
}

/// It says which rules hold; of its three numbers the first two are compared.
fn known_package_version(node: &Node, problems: &mut Problems) -> Option<String> {
    let version = string_of(1..=255)(node, problems)?;
    let line = |text: &str| text.splitn(3, '.').take(2).map(str::to_owned).collect::<Vec<_>>();
    let is_known = PackageVersion::ALL.iter().any(|known| line(known.as_str()) == line(&version));
    if is_known && is_plugin_version(&version) {
        return Some(version);
    }
    let known: Vec<&str> = PackageVersion::ALL.iter().map(|known| known.as_str()).collect();
    problems.error(codes::CHOICE, node.span, format!("must be one of {}", known.join(", ")));
    None
}

/// The releases it is made for; words of the user's own are kept.
fn releases(node: &Node, problems: &mut Problems) -> Option<Vec<Json>> {
    let release = |node: &Node, problems: &mut Problems| {
        let mut fields = Fields::new(node, problems)?;
        let version = fields.required("version", string_of(1..=255));
        fields.optional("os", string);
        fields.optional("mode", list_of(string));
        fields.rest();
        version
    };
    list_of(release)(node, problems)?;
    json_list(node, problems)
}

/// Documents of packages of which a plugin has no field of its own.
fn kept_beside(fields: &mut Fields<'_, '_>) -> JsonMap {
    let provides = fields.optional("provides", components::read_provided).map(Json::Array);
    let wizard = fields.optional("wizard_metadata", json_map).map(Json::Object);
    let beside = [("provides", provides), ("wizard_metadata", wizard)];
    beside.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}

/// Tasks of the older kind, each of which says by its stage when it runs.
fn stage_tasks(node: &Node, package_version: &str, problems: &mut Problems) -> Option<Vec<Json>> {
    let task = |node: &Node, problems: &mut Problems| {
        let task = json_map(node, problems)?;
        let Err(code) = Stage::of_field(task.get("stage"), package_version) else {
            return Some(Json::Object(task));
        };
        let place = node.get("stage").unwrap_or(node).span;
        problems.in_key("stage", |problems| {
            let help = "it is `pre_deployment` or `post_deployment`, with a number behind it if wanted: \
                        `post_deployment/100`";
            problems.error(code, place, meaning(code)).help(help.to_owned());
        });
        None
    };
    list_of(task)(node, problems)
}

impl Said {
    /// Lays what was said over what is there; the graphs are the caller's to store.
    pub(super) fn apply(self, plugin: &mut NewPlugin) -> EmbeddedGraphs {
        replace(&mut plugin.name, self.name);
        replace(&mut plugin.title, self.title);
        replace(&mut plugin.version, self.version);
        replace(&mut plugin.package_version, self.package_version);
        self.description.apply(&mut plugin.description);
        self.homepage.apply(&mut plugin.homepage);
        replace(&mut plugin.is_hotpluggable, self.is_hotpluggable);
        replace(&mut plugin.fuel_version, self.fuel_version);
        replace(&mut plugin.groups, self.groups);
        replace(&mut plugin.authors, self.authors);
        replace(&mut plugin.licenses, self.licenses);
        replace(&mut plugin.releases, self.releases);
        replace(&mut plugin.attributes_metadata, self.attributes_metadata);
        replace(&mut plugin.roles_metadata, self.roles_metadata);
        replace(&mut plugin.tags_metadata, self.tags_metadata);
        replace(&mut plugin.volumes_metadata, self.volumes_metadata);
        replace(&mut plugin.components_metadata, self.components_metadata);
        replace(&mut plugin.tasks, self.tasks);
        plugin.extra.extend(self.own);
        self.graphs
    }
}

fn replace<T>(old: &mut T, new: Option<T>) {
    if let Some(new) = new {
        *old = new;
    }
}

/// What may be said about a plugin. A new one needs `name`, `title`, `version`, `package_version`, `fuel_version` and
/// `releases`. Other fields are kept as they come.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documentation of the body, which is read with all its problems")]
pub(super) struct PluginBody {
    /// Cannot change.
    #[schema(
        nullable = false,
        example = "gridnet",
        min_length = 1,
        max_length = 255,
        pattern = "^[a-z0-9_-]+$"
    )]
    name: Option<String>,
    #[schema(nullable = false, example = "GridNet", min_length = 1, max_length = 255)]
    title: Option<String>,
    #[schema(nullable = false, example = "1.0.0", min_length = 1, max_length = 255)]
    version: Option<String>,
    #[schema(nullable = false, example = "5.0.0", min_length = 1, max_length = 255)]
    package_version: Option<String>,
    description: Option<String>,
    homepage: Option<String>,
    #[schema(nullable = false)]
    is_hotpluggable: Option<bool>,
    #[schema(nullable = false, example = json!(["10.0"]))]
    fuel_version: Option<Vec<String>>,
    #[schema(nullable = false)]
    groups: Option<Vec<String>>,
    #[schema(nullable = false)]
    authors: Option<Vec<String>>,
    #[schema(nullable = false)]
    licenses: Option<Vec<String>>,
    /// What it is made for, each with `version`.
    #[schema(nullable = false, value_type = Option<Vec<Object>>, example = json!([{"os": "ubuntu", "version": "newton-10.0", "mode": ["ha"]}]))]
    releases: Option<Vec<Json>>,
    #[schema(nullable = false, value_type = Option<Object>)]
    attributes_metadata: Option<JsonMap>,
    #[schema(nullable = false, value_type = Option<Object>)]
    roles_metadata: Option<JsonMap>,
    #[schema(nullable = false, value_type = Option<Object>)]
    tags_metadata: Option<JsonMap>,
    #[schema(nullable = false, value_type = Option<Object>)]
    volumes_metadata: Option<JsonMap>,
    #[schema(nullable = false, value_type = Option<Vec<Object>>)]
    components_metadata: Option<Vec<Json>>,
    /// Components that say what they work with and refuse the rest.
    #[schema(nullable = false, value_type = Option<Vec<Object>>)]
    provides: Option<Vec<Json>>,
    /// What it adds to the wizard of releases.
    #[schema(nullable = false, value_type = Option<Object>)]
    wizard_metadata: Option<JsonMap>,
    /// Tasks of the older kind, placed by `stage`.
    #[schema(nullable = false, value_type = Option<Vec<Object>>)]
    tasks: Option<Vec<Json>>,
    /// Its graphs, each with its `type`.
    #[schema(nullable = false, value_type = Option<Vec<Object>>)]
    graphs: Option<Vec<Json>>,
    /// The tasks of the graph `default`.
    #[schema(nullable = false, value_type = Option<Vec<Object>>)]
    deployment_tasks: Option<Vec<Json>>,
}
