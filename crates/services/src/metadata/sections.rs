//! Roles, tags and volumes as they stand in a record.

use serde::Serialize;
use stoker_manifest::reader::{
    Fields, json, json_list, json_map, list_of, map_of, object, string, string_of, word,
};
use stoker_manifest::{Problems, codes};
use stoker_model::{Json, JsonMap};
use stoker_yaml::{Node, NodeKind, Scalar};

/// How much of a disk a volume takes.
const ALLOCATE_SIZES: &[&str] = &["all", "min", "full-disk"];
/// Where older documents keep which role uses which volumes: inside `volumes_metadata`.
const MAPPING: &str = "volumes_roles_mapping";

/// Role to what is said about it.
pub fn roles(node: &Node, problems: &mut Problems) -> Option<JsonMap> {
    map_of(role_meta)(node, problems).map(objects)
}

/// Tag to what is said about it.
pub fn tags(node: &Node, problems: &mut Problems) -> Option<JsonMap> {
    map_of(tag_meta)(node, problems).map(objects)
}

/// What is said about a role; words of the user's own are kept.
pub fn role_meta(node: &Node, problems: &mut Problems) -> Option<JsonMap> {
    let mut fields = Fields::new(node, problems)?;
    fields.optional("name", string);
    fields.optional("description", string);
    fields.optional("tags", list_of(string));
    fields.optional("conflicts", conflicts);
    fields.optional("limits", json_map);
    fields.rest();
    json_map(node, problems)
}

/// What is said about a tag; words of the user's own are kept.
pub fn tag_meta(node: &Node, problems: &mut Problems) -> Option<JsonMap> {
    let mut fields = Fields::new(node, problems)?;
    fields.optional("has_primary", stoker_manifest::reader::boolean);
    fields.rest();
    json_map(node, problems)
}

/// Names of roles, or `*` for all others.
fn conflicts(node: &Node, problems: &mut Problems) -> Option<()> {
    match &node.kind {
        NodeKind::Scalar(Scalar::Str(_)) => word(&["*"])(node, problems).map(drop),
        _ => list_of(string)(node, problems).map(drop),
    }
}

/// Role to the volumes it uses.
pub fn volumes_of_roles(node: &Node, problems: &mut Problems) -> Option<JsonMap> {
    let mapping = map_of(volumes_of_role)(node, problems)?;
    Some(mapping.into_iter().map(|(role, volumes)| (role, Json::Array(volumes))).collect())
}

/// `[{id, allocate_size}]`.
pub fn volumes_of_role(node: &Node, problems: &mut Problems) -> Option<Vec<Json>> {
    list_of(object(|fields| {
        let id = fields.required("id", string_of(1..=255));
        let size = fields.required("allocate_size", word(ALLOCATE_SIZES));
        id.and(size)
    }))(node, problems)?;
    json_list(node, problems)
}

/// `{volumes: [{id, …}], volumes_roles_mapping: {…}, …}`.
pub fn volumes(node: &Node, problems: &mut Problems) -> Option<JsonMap> {
    let mut fields = Fields::new(node, problems)?;
    fields.optional("volumes", list_of(volume));
    fields.optional(MAPPING, volumes_of_roles);
    fields.rest();
    json_map(node, problems)
}

fn volume(node: &Node, problems: &mut Problems) -> Option<()> {
    let mut fields = Fields::new(node, problems)?;
    let id = fields.required("id", string);
    fields.rest();
    id.map(drop)
}

/// Takes the mapping of roles to volumes out of `volumes_metadata`: a record keeps it in one place only.
pub fn lift_mapping(volumes_metadata: &mut JsonMap) -> Option<JsonMap> {
    match volumes_metadata.shift_remove(MAPPING)? {
        Json::Object(mapping) => Some(mapping),
        _ => None,
    }
}

/// The same without taking it out.
pub fn mapping_in(volumes_metadata: &JsonMap) -> Option<&JsonMap> {
    volumes_metadata.get(MAPPING)?.as_object()
}

/// The volumes that a `volumes_metadata` defines.
pub fn volume_ids(volumes_metadata: &JsonMap) -> impl Iterator<Item = &str> {
    let volumes = volumes_metadata.get("volumes").and_then(Json::as_array);
    volumes.into_iter().flatten().filter_map(|volume| volume.get("id")?.as_str())
}

/// The tags of a role, by what is said about it.
pub fn tags_of(meta: &Json) -> impl Iterator<Item = &str> {
    meta.get("tags").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str)
}

/// A name as it can stand in a path: letters, digits, `-` and `_`.
pub fn path_name(node: &Node, problems: &mut Problems) -> Option<String> {
    let name = string_of(1..=255)(node, problems)?;
    let legal = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    if name.chars().all(legal) {
        return Some(name);
    }
    problems.error(codes::FORM, node.span, "may have letters, digits, `-` and `_` only");
    None
}

/// Everything a map says that nobody has asked for yet: fields of the user's own.
pub fn own_fields(fields: &mut Fields<'_, '_>) -> JsonMap {
    let mut own = JsonMap::new();
    for (name, node) in fields.rest() {
        let value = fields.problems().in_key(name, |problems| json(node, problems));
        own.extend(value.map(|value| (name.to_owned(), value)));
    }
    own
}

/// What is shown of a record, with fields of the user's own beside it; words of ours win.
pub fn show_own(view: impl Serialize, own: JsonMap, hidden: &[&str]) -> JsonMap {
    // A view is a struct of texts, numbers and documents, which always has a JSON form.
    let mut shown = match serde_json::to_value(view) {
        Ok(Json::Object(shown)) => shown,
        _ => JsonMap::new(),
    };
    for (name, value) in own {
        if !hidden.contains(&name.as_str()) {
            shown.entry(name).or_insert(value);
        }
    }
    shown
}

fn objects(entries: Vec<(String, JsonMap)>) -> JsonMap {
    entries.into_iter().map(|(name, meta)| (name, Json::Object(meta))).collect()
}
