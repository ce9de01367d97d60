//! Validation of the roles of a node.

use stoker_model::{ClusterId, Json, JsonMap};
use stoker_registry::restrictions::RestrictionEffect;

use crate::plugins::condition_models::ConditionModels;

/// Reports why one node cannot have these roles: duplicates, unknown roles and conflicts.
pub fn role_problems(cluster_id: ClusterId, metadata: &JsonMap, roles: &[String]) -> Vec<String> {
    let mut problems = Vec::new();
    let has_duplicates = roles.iter().enumerate().any(|(index, role)| roles[..index].contains(role));
    if has_duplicates {
        problems.push("List of roles contains duplicates.".to_owned());
    }
    let unknown: Vec<&str> =
        roles.iter().filter(|role| !metadata.contains_key(*role)).map(String::as_str).collect();
    if !unknown.is_empty() {
        let unknown = unknown.join(", ");
        problems.push(format!("{unknown} are not valid roles for nodes in cluster {cluster_id}"));
    }
    for (index, role) in roles.iter().enumerate() {
        let others = roles.iter().enumerate().filter(|(other, name)| *other != index && *name != role);
        // A conflict that both roles declare is reported once.
        let clashes = others.filter(|(other, name)| {
            conflicts(metadata, role, name) && (*other > index || !conflicts(metadata, name, role))
        });
        problems.extend(clashes.map(|(_, name)| format!("Role '{role}' in conflict with role '{name}'.")));
    }
    problems
}

/// Reports roles whose restrictions forbid them in the current state of the cluster. As with settings,
/// restrictions that cannot be evaluated are ignored.
pub fn restricted_roles<'r>(
    models: &ConditionModels,
    metadata: &JsonMap,
    roles: impl Iterator<Item = &'r String>,
) -> Vec<String> {
    let mut problems = Vec::new();
    for role in roles {
        let restrictions = metadata.get(role).and_then(|meta| meta.get("restrictions"));
        let (effect, _) = RestrictionEffect::evaluate(restrictions, &|name| models.get(name));
        if effect.action().is_none() {
            continue;
        }
        let message = effect.messages.join(". ");
        let message = if message.is_empty() { "disabled by a restriction".to_owned() } else { message };
        problems.push(format!("Role '{role}' cannot be assigned: {message}"));
    }
    problems
}

/// Reports whether the metadata of `role` declares a conflict with `other`.
fn conflicts(metadata: &JsonMap, role: &str, other: &str) -> bool {
    let matches = |value: &Json| value.as_str().is_some_and(|name| name == "*" || name == other);
    match metadata.get(role).and_then(|meta| meta.get("conflicts")) {
        Some(Json::Array(names)) => names.iter().any(matches),
        Some(name) => matches(name),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn problems(roles: &[&str]) -> Vec<String> {
        let metadata = json!({
            "controller": {"conflicts": ["compute"]},
            "compute": {"conflicts": ["controller"]},
            "base": {"conflicts": "*"},
            "ceph": {},
            "odd": null,
        });
        let roles: Vec<String> = roles.iter().map(|role| (*role).to_owned()).collect();
        role_problems(ClusterId(1), metadata.as_object().unwrap(), &roles)
    }

    #[test]
    fn unknown_duplicate_and_conflicting_roles_are_reported() {
        assert_eq!(problems(&[]), [""; 0]);
        assert_eq!(problems(&["controller", "ceph", "odd"]), [""; 0]);
        assert_eq!(problems(&["x", "ceph", "y"]), ["x, y are not valid roles for nodes in cluster 1"]);
        assert_eq!(problems(&["ceph", "ceph"]), ["List of roles contains duplicates."]);
        assert_eq!(
            problems(&["compute", "controller"]),
            ["Role 'compute' in conflict with role 'controller'."]
        );
        assert_eq!(problems(&["ceph", "base"]), ["Role 'base' in conflict with role 'ceph'."]);
        assert_eq!(problems(&["base"]), [""; 0]);
    }
}
