//! Which roles a node may have.

use stoker_model::{ClusterId, Json, JsonMap};
use stoker_registry::restrictions::Effect;

use stoker_services::plugins::condition_models::ConditionModels;

/// Why one node cannot have these roles together.
pub(in crate::api) fn role_problems(cluster_id: ClusterId, known: &JsonMap, roles: &[String]) -> Vec<String> {
    let mut problems = Vec::new();
    let has_duplicates = roles.iter().enumerate().any(|(index, role)| roles[..index].contains(role));
    if has_duplicates {
        problems.push("List of roles contains duplicates.".to_owned());
    }
    let unknown: Vec<&str> =
        roles.iter().filter(|role| !known.contains_key(*role)).map(String::as_str).collect();
    if !unknown.is_empty() {
        let unknown = unknown.join(", ");
        problems.push(format!("{unknown} are not valid roles for node in environment {cluster_id}"));
    }
    for (index, role) in roles.iter().enumerate() {
        let others = roles.iter().enumerate().filter(|(other, name)| *other != index && *name != role);
        // A conflict that both declare is one conflict.
        let clashes = others.filter(|(other, name)| {
            conflicts(known, role, name) && (*other > index || !conflicts(known, name, role))
        });
        problems.extend(clashes.map(|(_, name)| format!("Role '{role}' in conflict with role '{name}'.")));
    }
    problems
}

/// Why roles cannot be given to a node now: what their restrictions say. Restrictions that cannot be evaluated do
/// nothing, as with settings.
pub(in crate::api) fn restricted_roles<'r>(
    models: &ConditionModels,
    known: &JsonMap,
    roles: impl Iterator<Item = &'r String>,
) -> Vec<String> {
    let mut problems = Vec::new();
    for role in roles {
        let written = known.get(role).and_then(|meta| meta.get("restrictions"));
        let (effect, _) = Effect::of(written, &|name| models.get(name));
        if effect.action().is_none() {
            continue;
        }
        let words = effect.messages.join(". ");
        let words = if words.is_empty() { "a restriction forbids it".to_owned() } else { words };
        problems.push(format!("Role '{role}' cannot be given now: {words}"));
    }
    problems
}

/// Whether the metadata of a role forbids another one beside it.
fn conflicts(known: &JsonMap, role: &str, other: &str) -> bool {
    let matches = |value: &Json| value.as_str().is_some_and(|name| name == "*" || name == other);
    match known.get(role).and_then(|meta| meta.get("conflicts")) {
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
        let known = json!({
            "controller": {"conflicts": ["compute"]},
            "compute": {"conflicts": ["controller"]},
            "base": {"conflicts": "*"},
            "ceph": {},
            "odd": null,
        });
        let roles: Vec<String> = roles.iter().map(|role| (*role).to_owned()).collect();
        role_problems(ClusterId(1), known.as_object().unwrap(), &roles)
    }

    #[test]
    fn roles_are_known_single_and_at_peace() {
        assert_eq!(problems(&[]), [""; 0]);
        assert_eq!(problems(&["controller", "ceph", "odd"]), [""; 0]);
        assert_eq!(problems(&["x", "ceph", "y"]), ["x, y are not valid roles for node in environment 1"]);
        assert_eq!(problems(&["ceph", "ceph"]), ["List of roles contains duplicates."]);
        assert_eq!(
            problems(&["compute", "controller"]),
            ["Role 'compute' in conflict with role 'controller'."]
        );
        assert_eq!(problems(&["ceph", "base"]), ["Role 'base' in conflict with role 'ceph'."]);
        assert_eq!(problems(&["base"]), [""; 0]);
    }
}
