//! Validation of the roles of a node.

use stoker_conditions::{Condition, ConditionError, Dialect, is_true};
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

/// Reports conflicts of requested roles with roles that are already deployed on the node and that it keeps.
pub fn deployed_conflicts(metadata: &JsonMap, requested: &[String], deployed: &[String]) -> Vec<String> {
    let mut problems = Vec::new();
    for role in requested.iter().filter(|role| !deployed.contains(role)) {
        let remaining = deployed.iter().filter(|name| !requested.contains(name));
        let clashes =
            remaining.filter(|name| conflicts(metadata, role, name) || conflicts(metadata, name, role));
        problems.extend(clashes.map(|name| {
            format!("Role '{role}' in conflict with role '{name}', which is deployed on the node.")
        }));
    }
    problems
}

/// Reports roles whose restrictions or dependencies forbid them in the current state of the cluster. As with settings,
/// restrictions that cannot be evaluated are ignored.
pub fn restricted_roles<'r>(
    models: &ConditionModels,
    metadata: &JsonMap,
    roles: impl Iterator<Item = &'r String>,
) -> Vec<String> {
    let mut problems = Vec::new();
    for role in roles {
        problems.extend(
            unmet_dependencies(models, metadata.get(role))
                .map(|problem| format!("Role '{role}' cannot be assigned: {problem}")),
        );
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

/// Returns the messages of dependencies that do not hold: `depends: [{condition, warning}]`. The condition is an expression,
/// or a map of paths to the values that they must have. A dependency that cannot be evaluated does not hold.
fn unmet_dependencies<'m>(
    models: &'m ConditionModels,
    meta: Option<&'m Json>,
) -> impl Iterator<Item = String> + 'm {
    let depends = meta.and_then(|meta| meta.get("depends")).and_then(Json::as_array).into_iter().flatten();
    depends.filter_map(|dependency| {
        let condition = dependency.get("condition")?;
        let holds = match condition {
            Json::Object(values) => {
                values.iter().all(|(path, value)| evaluate(path, models).is_ok_and(|found| found == *value))
            }
            condition => {
                condition.as_str().is_some_and(|text| evaluate(text, models).is_ok_and(|it| is_true(&it)))
            }
        };
        let warning = dependency.get("warning").and_then(Json::as_str).filter(|text| !text.trim().is_empty());
        (!holds).then(|| {
            warning.map_or_else(|| format!("it depends on {condition}, which does not hold"), str::to_owned)
        })
    })
}

fn evaluate(text: &str, models: &ConditionModels) -> Result<Json, ConditionError> {
    let dialect = Dialect::Restriction { strict: true, default_model: Some("wizard") };
    Condition::parse_as(text, dialect)?.evaluate(&|name| models.get(name))
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

    #[test]
    fn requested_roles_conflict_with_deployed_ones() {
        let metadata = json!({"controller": {"conflicts": ["compute"]}, "compute": {}, "ceph": {}});
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let check = |requested: &[&str], deployed: &[&str]| {
            deployed_conflicts(metadata.as_object().unwrap(), &names(requested), &names(deployed))
        };
        let message = "Role 'compute' in conflict with role 'controller', which is deployed on the node.";
        assert_eq!(check(&["compute"], &["controller"]), [message]);
        assert_eq!(check(&["ceph"], &["controller"]), [""; 0]);
        assert_eq!(check(&["controller"], &["controller"]), [""; 0]);
    }
}
