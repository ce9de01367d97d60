//! Limits on the number of nodes with a role, from the metadata of roles.
//!
//! `limits: {min, max, recommended, condition, overrides: [{condition, min, max, recommended, message}]}`. A limit is a number,
//! or a condition expression whose value is one. An override whose condition holds replaces the limits that it names.

use stoker_conditions::{Condition, Dialect, Models};
use stoker_diagnostics::{Diagnostic, Severity};
use stoker_model::{Cluster, ClusterId, ErrorChain, Json, JsonMap, Node};
use stoker_registry::restrictions::RestrictionEffect;
use stoker_store::{List, NodeFilter, Session};

use crate::cluster_settings::condition_models;
use crate::error::ServiceResult;
use crate::metadata::holder::{NamedSection, RoleOwner};
use crate::plugins::condition_models::ConditionModels;

mod codes {
    pub(super) const MINIMUM: &str = "role-minimum";
    pub(super) const MAXIMUM: &str = "role-maximum";
    pub(super) const RECOMMENDED: &str = "role-recommended";
    pub(super) const LIMIT: &str = "role-limit";
    pub(super) const PUBLIC_IP: &str = "role-public-ip";
}

/// Maximum number of nodes that a message lists.
const NODES_MAX: usize = 20;

/// Roles of a cluster, with the state of the cluster that their limits depend on.
pub struct ClusterRoles {
    pub metadata: JsonMap,
    pub models: ConditionModels,
    /// Nodes of the cluster that are not marked for removal.
    nodes: Vec<Node>,
}

impl ClusterRoles {
    pub async fn read(session: &mut Session, cluster: &Cluster) -> ServiceResult<Self> {
        let metadata = RoleOwner::of_cluster(session, cluster.clone()).await?.all(NamedSection::Roles);
        let models = condition_models(session, cluster).await?;
        let mut roles = Self { metadata, models, nodes: Vec::new() };
        roles.read_nodes(session, cluster.id).await?;
        Ok(roles)
    }

    /// Reads the nodes again after they were changed.
    pub async fn read_nodes(&mut self, session: &mut Session, cluster: ClusterId) -> ServiceResult<()> {
        let filter = NodeFilter { cluster: Some(Some(cluster)), ..NodeFilter::default() };
        self.nodes = session.node_list(&filter, &List::default()).await?.items;
        self.nodes.retain(|node| !node.pending_deletion);
        Ok(())
    }

    /// Reports the roles that fewer nodes have than their minimum. Roles that a restriction forbids are not required.
    pub fn minima(&self) -> Vec<Diagnostic> {
        let help =
            "assign the role to more nodes, or ignore the limits with `ignore_limits` (`--ignore-limits`)";
        self.required()
            .flat_map(|role| self.violations(role, Bound::Min))
            .map(|error| error.help(help))
            .collect()
    }

    /// Reports those of the roles that more nodes have than their maximum.
    pub fn maxima(&self, roles: &[&str]) -> Vec<Diagnostic> {
        roles.iter().flat_map(|role| self.violations(role, Bound::Max)).collect()
    }

    /// Warns about all violated limits, for a change that does not enforce them.
    pub fn all_limits(&self) -> Vec<Diagnostic> {
        let roles: Vec<&str> = self.metadata.keys().map(String::as_str).collect();
        let enforced = self.maxima(&roles).into_iter().chain(self.minima());
        let mut limits: Vec<Diagnostic> =
            enforced.map(|limit| Diagnostic { severity: Severity::Warning, help: None, ..limit }).collect();
        limits.extend(self.recommendations());
        limits
    }

    /// Warns about roles that fewer nodes have than recommended, and about limits that cannot be evaluated.
    pub fn recommendations(&self) -> Vec<Diagnostic> {
        self.required().flat_map(|role| self.warnings(role)).collect()
    }

    /// Warns about these roles, which nodes have just received.
    pub fn assignment_warnings(&self, roles: &[&str]) -> Vec<Diagnostic> {
        let mut warnings: Vec<Diagnostic> = roles.iter().flat_map(|role| self.warnings(role)).collect();
        for role in roles {
            if self.metadata.get(*role).and_then(|meta| meta.get("public_ip_required"))
                == Some(&Json::Bool(true))
            {
                let message = format!(
                    "role `{role}` needs a public IP address: {}; Stoker configures no networks",
                    carriers(&self.nodes_with(role))
                );
                warnings.push(
                    Diagnostic::warning(codes::PUBLIC_IP, message)
                        .help("check that these nodes have one before you deploy"),
                );
            }
        }
        warnings
    }

    fn warnings(&self, role: &str) -> Vec<Diagnostic> {
        let mut warnings = self.violations(role, Bound::Recommended);
        let errors = self.limits(role).errors.into_iter();
        warnings.extend(errors.map(|error| {
            Diagnostic::warning(codes::LIMIT, format!("a limit of role `{role}` is not enforced: {error}"))
                .help("correct the metadata of the role, or the setting that it reads")
        }));
        warnings
    }

    /// Roles that no restriction forbids. A restriction that cannot be evaluated may forbid its role.
    fn required(&self) -> impl Iterator<Item = &str> {
        let is_allowed = |(_, meta): &(&String, &Json)| {
            let (effect, errors) =
                RestrictionEffect::evaluate(meta.get("restrictions"), &|name| self.models.get(name));
            effect.action().is_none() && errors.is_empty()
        };
        self.metadata.iter().filter(is_allowed).map(|(role, _)| role.as_str())
    }

    fn limits(&self, role: &str) -> RoleLimits {
        let limits = self.metadata.get(role).and_then(|meta| meta.get("limits"));
        RoleLimits::evaluate(limits, &|name| self.models.get(name))
    }

    fn nodes_with(&self, role: &str) -> Vec<&Node> {
        let has = |node: &&Node| node.roles.iter().chain(&node.pending_roles).any(|name| name == role);
        self.nodes.iter().filter(has).collect()
    }

    fn violations(&self, role: &str, bound: Bound) -> Vec<Diagnostic> {
        let nodes = self.nodes_with(role);
        let n_nodes = nodes.len() as u64;
        let limits = self.limits(role).limits.into_iter().filter(|limit| limit.bound == bound);
        let violated = limits.filter(|limit| match bound {
            Bound::Max => n_nodes > limit.n_nodes,
            Bound::Min | Bound::Recommended => n_nodes < limit.n_nodes,
        });
        violated.map(|limit| limit.violation(role, &nodes)).collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    Min,
    Max,
    Recommended,
}

impl Bound {
    const ALL: [Self; 3] = [Self::Min, Self::Max, Self::Recommended];

    const fn key(self) -> &'static str {
        match self {
            Self::Min => "min",
            Self::Max => "max",
            Self::Recommended => "recommended",
        }
    }
}

/// A limit with its value in the present state of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Limit {
    bound: Bound,
    n_nodes: u64,
    /// Message of the metadata.
    message: Option<String>,
}

impl Limit {
    fn violation(&self, role: &str, nodes: &[&Node]) -> Diagnostic {
        let (n, has) = (self.n_nodes, carriers(nodes));
        let (plural, verb) = if n == 1 { ("node", "is") } else { ("nodes", "are") };
        let message = match (&self.message, self.bound) {
            (Some(message), bound) => {
                let message = message.trim().trim_end_matches('.');
                let bound = match bound {
                    Bound::Min => "minimum",
                    Bound::Max => "maximum",
                    Bound::Recommended => "recommended",
                };
                format!("{message} (role `{role}`, {bound} {n}): {has}")
            }
            (None, Bound::Min) => format!("role `{role}` needs at least {n} {plural}: {has}"),
            (None, Bound::Max) => format!("role `{role}` allows at most {n} {plural}: {has}"),
            (None, Bound::Recommended) => {
                format!("at least {n} {plural} with role `{role}` {verb} recommended: {has}")
            }
        };
        match self.bound {
            Bound::Min => Diagnostic::error(codes::MINIMUM, message),
            Bound::Max => Diagnostic::error(codes::MAXIMUM, message),
            Bound::Recommended => Diagnostic::warning(codes::RECOMMENDED, message),
        }
    }
}

/// Limits of a role in the present state of the cluster.
#[derive(Debug, Default, PartialEq, Eq)]
struct RoleLimits {
    limits: Vec<Limit>,
    /// Why other limits cannot be evaluated.
    errors: Vec<String>,
}

impl RoleLimits {
    fn evaluate(json: Option<&Json>, models: &Models<'_, '_>) -> Self {
        let mut evaluated = Self::default();
        let Some(json) = json.and_then(Json::as_object) else { return evaluated };
        if !evaluated.holds(json, models).unwrap_or(true) {
            return evaluated;
        }
        let overrides = json.get("overrides").and_then(Json::as_array).into_iter().flatten();
        let mut overridden = Vec::new();
        for map in overrides.filter_map(Json::as_object) {
            if evaluated.holds(map, models) == Some(true) {
                overridden.extend(Bound::ALL.into_iter().filter(|bound| map.contains_key(bound.key())));
                evaluated.add(map, &Bound::ALL, models);
            }
        }
        let others: Vec<Bound> = Bound::ALL.into_iter().filter(|bound| !overridden.contains(bound)).collect();
        evaluated.add(json, &others, models);
        evaluated
    }

    /// Evaluates the condition of limits; `None` if there is none or if it cannot be evaluated.
    fn holds(&mut self, map: &JsonMap, models: &Models<'_, '_>) -> Option<bool> {
        let condition = map.get("condition")?.as_str()?;
        let outcome = parse(condition)
            .and_then(|parsed| parsed.is_true(models).map_err(|error| ErrorChain(&error).to_string()));
        outcome.map_err(|error| self.errors.push(format!("`{condition}`: {error}"))).ok()
    }

    fn add(&mut self, map: &JsonMap, bounds: &[Bound], models: &Models<'_, '_>) {
        let message = map.get("message").and_then(Json::as_str).filter(|message| !message.trim().is_empty());
        for bound in bounds {
            let Some(value) = map.get(bound.key()) else { continue };
            match number(value, models) {
                Ok(n_nodes) => {
                    self.limits.push(Limit { bound: *bound, n_nodes, message: message.map(str::to_owned) });
                }
                Err(error) => self.errors.push(format!("`{}` {error}", bound.key())),
            }
        }
    }
}

/// Evaluates a limit: a number, a number as text, or an expression with such a value.
fn number(value: &Json, models: &Models<'_, '_>) -> Result<u64, String> {
    let plain = |value: &Json| value.as_u64().or_else(|| value.as_str()?.trim().parse().ok());
    if let Some(number) = plain(value) {
        return Ok(number);
    }
    let Some(text) = value.as_str() else { return Err(format!("is not a number of nodes: {value}")) };
    let result = parse(text)?.evaluate(models).map_err(|error| format!("`{text}`: {error}"))?;
    plain(&result).ok_or_else(|| format!("`{text}` is not a number of nodes: {result}"))
}

fn parse(text: &str) -> Result<Condition, String> {
    let dialect = Dialect::Restriction { strict: true, default_model: Some("wizard") };
    Condition::parse_as(text, dialect).map_err(|error| format!("`{text}`: {error}"))
}

/// Describes the nodes that have a role.
fn carriers(nodes: &[&Node]) -> String {
    let listed: Vec<String> = nodes.iter().take(NODES_MAX).map(|node| node.id.to_string()).collect();
    let listed = listed.join(", ");
    match nodes.len() {
        0 => "no node has it".to_owned(),
        1 => format!("node {listed} has it"),
        n if n > NODES_MAX => format!("{n} nodes have it ({listed} and {} more)", n - NODES_MAX),
        n => format!("{n} nodes have it ({listed})"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Key, number of nodes and message of a limit.
    type Evaluated = (&'static str, u64, Option<String>);

    fn evaluate(limits: &Json) -> (Vec<Evaluated>, Vec<String>) {
        let settings = json!({"ha": {"value": true}, "size": {"value": "3"}, "text": {"value": "many"}});
        let models = |name: &str| (name == "settings").then_some(&settings);
        let RoleLimits { limits, errors } = RoleLimits::evaluate(Some(limits), &models);
        (limits.into_iter().map(|limit| (limit.bound.key(), limit.n_nodes, limit.message)).collect(), errors)
    }

    #[test]
    fn limits_are_numbers_or_expressions() {
        let (limits, errors) = evaluate(&json!({"min": 1, "max": "4", "recommended": "settings:size.value"}));
        assert_eq!(limits, [("min", 1, None), ("max", 4, None), ("recommended", 3, None)]);
        assert_eq!(errors, [""; 0]);
        assert_eq!(evaluate(&json!({})), (vec![], vec![]));
    }

    #[test]
    fn an_override_replaces_the_limits_that_it_names() {
        let limits = json!({"min": 1, "recommended": 3, "overrides": [
            {"condition": "settings:ha.value == true", "min": 2, "message": "HA needs two."},
            {"condition": "settings:ha.value == false", "recommended": 1},
        ]});
        let (limits, errors) = evaluate(&limits);
        assert_eq!(limits, [("min", 2, Some("HA needs two.".to_owned())), ("recommended", 3, None)]);
        assert_eq!(errors, [""; 0]);
    }

    #[test]
    fn a_condition_switches_all_limits() {
        assert_eq!(evaluate(&json!({"condition": "settings:ha.value == false", "min": 9})), (vec![], vec![]));
        let (limits, _) = evaluate(&json!({"condition": "settings:ha.value == true", "min": 9}));
        assert_eq!(limits, [("min", 9, None)]);
    }

    #[test]
    fn limits_that_cannot_be_evaluated_are_reported() {
        let limits = json!({"min": "settings:none.value", "max": -1, "recommended": "settings:text.value", "overrides": [
            {"condition": "settings:none.value == 1", "max": 1},
        ]});
        let (limits, errors) = evaluate(&limits);
        assert_eq!(limits, []);
        assert_eq!(errors.len(), 4, "{errors:?}");
        for (error, part) in
            errors.iter().zip(["settings:none.value == 1", "`min`", "`max`", "`recommended`"])
        {
            assert!(error.contains(part), "{error}");
        }
    }
}
