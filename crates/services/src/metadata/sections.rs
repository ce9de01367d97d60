//! Access to the sections of stored releases, clusters and plugins.

use serde::Serialize;
use stoker_model::{Json, JsonMap};

/// Key of the role-to-volumes mapping, which legacy documents keep inside `volumes_metadata`.
const MAPPING: &str = "volumes_roles_mapping";

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
