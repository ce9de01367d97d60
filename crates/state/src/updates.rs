//! Role metadata that makes tasks run again when nodes of another role are added.

use stoker_model::{Json, JsonMap};

use crate::input::StateInput;
use crate::tags::Metadata;

/// The nodes of the cluster; documents that a user supplied may have none.
const NODES: &str = "$.get(nodes, [])";

/// Returns an expression that is true on nodes that must be updated because of added nodes; `None` if the roles demand no
/// updates.
///
/// `update_required` of a role names the roles whose nodes are updated whenever nodes with the role are added,
/// `update_once` those whose nodes are updated when the first node with the role is added.
pub fn update_condition(input: &StateInput<'_>) -> Option<String> {
    let parts: Vec<String> = of_roles(Metadata::new(input).roles()).collect();
    (!parts.is_empty()).then(|| parts.join(" or "))
}

fn of_roles(roles: &JsonMap) -> impl Iterator<Item = String> {
    roles.iter().flat_map(|(role, meta)| {
        let role = quoted(role);
        let required = updated(meta, "update_required").map(|updated| {
            let added = format!("len(added({NODES}.where($.role = {role}).uid)) > 0");
            format!("{updated} and {added}")
        });
        let once = updated(meta, "update_once").map(|updated| {
            let any = format!("{NODES}.any($.role = {role})");
            format!("{updated} and {any} and not old({any})")
        });
        [required, once].into_iter().flatten()
    })
}

/// An expression that is true on nodes with a role of this list; `None` for an empty list.
fn updated(meta: &Json, key: &str) -> Option<String> {
    let roles = meta.get(key).and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
    let roles: Vec<String> = roles.map(quoted).collect();
    (!roles.is_empty()).then(|| format!("$.uid in {NODES}.where($.role in [{}]).uid", roles.join(", ")))
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}
