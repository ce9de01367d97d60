//! Readers of roles, tags and volumes.

use serde::Serialize;
use stoker_diagnostics::Diagnostics;
use stoker_manifest::codes;
use stoker_manifest::reader::{
    Fields, json, json_list, json_map, list_of, map_of, object, one_of, report_wrong_type, string,
    string_with_length,
};
use stoker_model::{Json, JsonMap};
use stoker_yaml::{Node, NodeKind, Scalar};

/// Portions of a disk that a volume can take.
const ALLOCATE_SIZES: &[&str] = &["all", "min", "full-disk"];
/// Key of the role-to-volumes mapping, which legacy documents keep inside `volumes_metadata`.
const MAPPING: &str = "volumes_roles_mapping";

/// Fields of roles that other readers check, or that real releases carry.
const ROLE_FIELDS: &[&str] = &[
    "fault_tolerance",
    "group",
    "has_primary",
    "public_for_dvr_required",
    "public_ip_required",
    "restrictions",
    "weight",
];

/// Reads metadata by role.
pub fn roles(node: &Node, problems: &mut Diagnostics) -> Option<JsonMap> {
    map_of(role_meta)(node, problems).map(objects)
}

/// Reads metadata by tag.
pub fn tags(node: &Node, problems: &mut Diagnostics) -> Option<JsonMap> {
    map_of(tag_meta)(node, problems).map(objects)
}

/// Reads the metadata of a role; unknown fields are retained.
pub fn role_meta(node: &Node, problems: &mut Diagnostics) -> Option<JsonMap> {
    let mut fields = Fields::new(node, problems)?;
    fields.optional("name", string);
    fields.optional("description", string);
    fields.optional("tags", list_of(string));
    fields.optional("conflicts", conflicts);
    fields.optional("limits", limits);
    fields.optional("depends", list_of(object(dependency)));
    fields.optional("update_required", list_of(string));
    fields.optional("update_once", list_of(string));
    fields.user_defined(ROLE_FIELDS);
    json_map(node, problems)
}

/// Reads limits of the number of nodes with a role. Other keys are errors: they would limit nothing.
fn limits(node: &Node, problems: &mut Diagnostics) -> Option<()> {
    object(|fields| {
        bounds(fields);
        fields.optional("condition", string);
        fields.optional(
            "overrides",
            list_of(object(|fields| {
                let condition = fields.required("condition", string);
                bounds(fields);
                condition.map(drop)
            })),
        );
        Some(())
    })(node, problems)
}

fn bounds(fields: &mut Fields<'_, '_>) {
    for key in ["min", "max", "recommended"] {
        fields.optional(key, bound);
    }
    fields.optional("message", string);
}

/// Reads a limit: a number of nodes, or an expression with such a value.
fn bound(node: &Node, problems: &mut Diagnostics) -> Option<()> {
    match &node.kind {
        NodeKind::Scalar(Scalar::Int(number)) if *number >= 0 => Some(()),
        NodeKind::Scalar(Scalar::Str(_)) => Some(()),
        _ => {
            report_wrong_type(node, "a number of nodes or a condition expression", problems);
            None
        }
    }
}

/// Reads a dependency of a role: `{condition, warning}`.
fn dependency(fields: &mut Fields<'_, '_>) -> Option<()> {
    let condition = fields.required("condition", |node, problems| match &node.kind {
        NodeKind::Map(_) => json_map(node, problems).map(drop),
        _ => string(node, problems).map(drop),
    });
    fields.optional("warning", string);
    condition
}

/// Reads the metadata of a tag; unknown fields are retained.
pub fn tag_meta(node: &Node, problems: &mut Diagnostics) -> Option<JsonMap> {
    let mut fields = Fields::new(node, problems)?;
    fields.optional("has_primary", stoker_manifest::reader::boolean);
    fields.user_defined(&[]);
    json_map(node, problems)
}

/// Reads conflicts: role names, or `*` for all other roles.
fn conflicts(node: &Node, problems: &mut Diagnostics) -> Option<()> {
    match &node.kind {
        NodeKind::Scalar(Scalar::Str(_)) => one_of(&["*"])(node, problems).map(drop),
        _ => list_of(string)(node, problems).map(drop),
    }
}

/// Reads the volumes of each role.
pub fn volumes_of_roles(node: &Node, problems: &mut Diagnostics) -> Option<JsonMap> {
    let mapping = map_of(volumes_of_role)(node, problems)?;
    Some(mapping.into_iter().map(|(role, volumes)| (role, Json::Array(volumes))).collect())
}

/// Reads volumes: `[{id, allocate_size}]`.
pub fn volumes_of_role(node: &Node, problems: &mut Diagnostics) -> Option<Vec<Json>> {
    list_of(object(|fields| {
        let id = fields.required("id", string_with_length(1..=255));
        let size = fields.required("allocate_size", one_of(ALLOCATE_SIZES));
        id.and(size)
    }))(node, problems)?;
    json_list(node, problems)
}

/// Reads `{volumes: [{id, …}], volumes_roles_mapping: {…}, …}`.
pub fn volumes(node: &Node, problems: &mut Diagnostics) -> Option<JsonMap> {
    let mut fields = Fields::new(node, problems)?;
    fields.optional("volumes", list_of(volume));
    fields.optional(MAPPING, volumes_of_roles);
    fields.remaining();
    json_map(node, problems)
}

fn volume(node: &Node, problems: &mut Diagnostics) -> Option<()> {
    let mut fields = Fields::new(node, problems)?;
    let id = fields.required("id", string);
    fields.remaining();
    id.map(drop)
}

/// Removes the role-to-volumes mapping from `volumes_metadata`; a record stores it separately.
pub fn lift_mapping(volumes_metadata: &mut JsonMap) -> Option<JsonMap> {
    match volumes_metadata.shift_remove(MAPPING)? {
        Json::Object(mapping) => Some(mapping),
        _ => None,
    }
}

/// Returns the mapping without removing it.
pub fn mapping_in(volumes_metadata: &JsonMap) -> Option<&JsonMap> {
    volumes_metadata.get(MAPPING)?.as_object()
}

/// Returns the ids of the volumes that `volumes_metadata` defines.
pub fn volume_ids(volumes_metadata: &JsonMap) -> impl Iterator<Item = &str> {
    let volumes = volumes_metadata.get("volumes").and_then(Json::as_array);
    volumes.into_iter().flatten().filter_map(|volume| volume.get("id")?.as_str())
}

/// Returns the tags in the metadata of a role.
pub fn tags_of(meta: &Json) -> impl Iterator<Item = &str> {
    meta.get("tags").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str)
}

/// Reads a name that needs no escaping in a URL path: letters, digits, `-` and `_`.
pub fn path_name(node: &Node, problems: &mut Diagnostics) -> Option<String> {
    let name = string_with_length(1..=255)(node, problems)?;
    let legal = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    if name.chars().all(legal) {
        return Some(name);
    }
    problems.error(codes::FORM, node.span, "must consist of letters, digits, `-` and `_`");
    None
}

/// Returns the fields that no reader has consumed: user-defined fields, and those in `stored`. Fields that resemble a known
/// one are reported.
pub fn own_fields(fields: &mut Fields<'_, '_>, stored: &[&'static str]) -> JsonMap {
    let mut own = JsonMap::new();
    for (name, node) in fields.user_defined(stored) {
        let value = fields.problems().in_key(name, |problems| json(node, problems));
        own.extend(value.map(|value| (name.to_owned(), value)));
    }
    own
}

/// Serializes a record with its user-defined fields; fields of the record take precedence.
pub fn show_own(view: impl Serialize, own: JsonMap, hidden: &[&str]) -> JsonMap {
    // A view consists of strings, numbers and documents, so it always serializes.
    let mut rendered = match serde_json::to_value(view) {
        Ok(Json::Object(rendered)) => rendered,
        _ => JsonMap::new(),
    };
    for (name, value) in own {
        if !hidden.contains(&name.as_str()) {
            rendered.entry(name).or_insert(value);
        }
    }
    rendered
}

fn objects(entries: Vec<(String, JsonMap)>) -> JsonMap {
    entries.into_iter().map(|(name, meta)| (name, Json::Object(meta))).collect()
}
