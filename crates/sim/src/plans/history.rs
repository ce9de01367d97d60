//! Histories: what operators, machines and runs do to a site, in order.

use std::fmt;

use serde_json::Value as Json;

use super::expression::{Condition, Parameter};
use super::site::{Placement, Scope, Site, SiteNode};

#[derive(Clone, Debug)]
pub(crate) struct History {
    pub(crate) site: Site,
    pub(crate) operations: Vec<Operation>,
}

/// A step of a history. One that refers to a node or task that does not exist does nothing, so that the shrinker can
/// drop any operation.
#[derive(Clone, Debug)]
pub(crate) enum Operation {
    /// Sets a setting, or removes it.
    Set(&'static str, &'static str, Option<Json>),
    Edit(TaskRef, Edit),
    /// Changes the body of the helper `decorate`.
    EditHelper,
    /// Changes the content of the copied file.
    EditFile,
    /// Sets `on_definition_change: keep` of a graph.
    Keep(&'static str, bool),
    Label(String, &'static str, Option<u32>),
    /// Assigns one more role to a node.
    Role(String, &'static str),
    Gateway(String, Option<u32>),
    Online(String, bool),
    MarkRemoval(String, bool),
    AddNode(String, &'static str),
    /// The node leaves the cluster; its machine keeps what was installed.
    RemoveNode(String),
    /// Replaces the machine of the node by an empty one.
    Replace(String),
    /// The machine is reinstalled and is empty.
    Reinstall(String),
    Reset,
    Run(RunRequest),
    /// A process of an attempt whose end was unknown completes after all.
    LateResult(u64),
}

/// A task or a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TaskRef {
    pub(crate) graph: &'static str,
    pub(crate) task: String,
}

#[derive(Clone, Debug)]
pub(crate) enum Edit {
    Command,
    Parameters(Vec<Parameter>),
    Timeout,
    Placement(Placement),
    Condition(Condition),
}

#[derive(Clone, Debug)]
pub(crate) struct RunRequest {
    pub(crate) graph: &'static str,
    pub(crate) scope: Scope,
    pub(crate) is_dry: bool,
    /// Decides how attempts end.
    pub(crate) luck: u64,
    /// One in this many attempts does not succeed; zero: all succeed.
    pub(crate) failing: u64,
    /// The node whose machine is replaced after its tasks were sent and before their results arrive.
    pub(crate) replaced: Option<String>,
}

/// What an edit of the site does to applied states and machines.
#[derive(Debug, Default)]
pub(crate) struct Consequences {
    /// Nodes whose applied states are invalid.
    pub(crate) invalidated: Vec<String>,
    /// Nodes with an empty machine.
    pub(crate) emptied: Vec<String>,
}

impl Operation {
    /// Applies an operation other than a run or a late result.
    pub(crate) fn apply(&self, site: &mut Site) -> Consequences {
        let mut consequences = Consequences::default();
        match self {
            Self::Set(section, name, Some(value)) => {
                site.settings.insert((section, name), value.clone());
            }
            Self::Set(section, name, None) => {
                site.settings.remove(&(*section, *name));
            }
            Self::Edit(TaskRef { graph, task }, edit) => {
                let Some(graph) = site.graphs.get_mut(graph) else { return consequences };
                if let Some(group) = graph.groups.get_mut(task) {
                    match edit {
                        Edit::Placement(placement) => group.placement.clone_from(placement),
                        Edit::Condition(condition) => group.condition = Some(condition.clone()),
                        Edit::Command | Edit::Parameters(_) | Edit::Timeout => {}
                    }
                } else if let Some(task) = graph.tasks.get_mut(task) {
                    match edit {
                        Edit::Command => task.command += 1,
                        Edit::Parameters(parameters) => task.parameters.clone_from(parameters),
                        Edit::Timeout => task.timeout += 1,
                        Edit::Placement(placement) => task.placement.clone_from(placement),
                        Edit::Condition(condition) => task.condition = Some(condition.clone()),
                    }
                }
            }
            Self::EditHelper => site.helper += 1,
            Self::EditFile => site.file += 1,
            Self::Keep(graph, keep) => {
                if let Some(graph) = site.graphs.get_mut(graph) {
                    graph.keep = *keep;
                }
            }
            Self::AddNode(uid, role) => {
                if !site.nodes.contains_key(uid) {
                    site.nodes.insert(uid.clone(), SiteNode::new(role));
                    consequences.invalidated.push(uid.clone());
                }
            }
            Self::RemoveNode(uid) => {
                if site.nodes.remove(uid).is_some() {
                    consequences.invalidated.push(uid.clone());
                }
            }
            Self::Reset => {
                site.status = super::site::NEW;
                for (uid, node) in &mut site.nodes {
                    node.redeploy();
                    consequences.invalidated.push(uid.clone());
                }
                consequences.invalidated.push(super::site::MASTER.to_owned());
            }
            Self::Run(_) | Self::LateResult(_) => {}
            Self::Label(uid, ..)
            | Self::Role(uid, _)
            | Self::Gateway(uid, _)
            | Self::Online(uid, _)
            | Self::MarkRemoval(uid, _)
            | Self::Replace(uid)
            | Self::Reinstall(uid) => {
                if let Some(node) = site.nodes.get_mut(uid) {
                    self.apply_to_node(uid, node, &mut consequences);
                }
            }
        }
        consequences
    }

    fn apply_to_node(&self, uid: &str, node: &mut SiteNode, consequences: &mut Consequences) {
        match self {
            Self::Label(_, name, Some(value)) => _ = node.labels.insert(name, *value),
            Self::Label(_, name, None) => _ = node.labels.remove(name),
            Self::Role(_, role) if !node.roles.contains(role) => _ = node.pending_roles.insert(role),
            Self::Gateway(_, gateway) => node.gateway = *gateway,
            Self::Online(_, online) => node.online = *online,
            Self::MarkRemoval(_, is_marked) => node.pending_deletion = *is_marked,
            Self::Replace(_) => {
                node.redeploy();
                consequences.invalidated.push(uid.to_owned());
                consequences.emptied.push(uid.to_owned());
            }
            Self::Reinstall(_) => {
                node.status = super::site::PROVISIONED;
                consequences.invalidated.push(uid.to_owned());
                consequences.emptied.push(uid.to_owned());
            }
            _ => {}
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Set(section, name, Some(value)) => write!(f, "set {section}.{name} = {value}"),
            Self::Set(section, name, None) => write!(f, "remove {section}.{name}"),
            Self::Edit(TaskRef { graph, task }, edit) => match edit {
                Edit::Command => write!(f, "edit {graph}/{task}: command"),
                Edit::Parameters(parameters) => {
                    let texts: Vec<String> = parameters.iter().map(Parameter::to_string).collect();
                    write!(f, "edit {graph}/{task}: parameters = [{}]", texts.join("; "))
                }
                Edit::Timeout => write!(f, "edit {graph}/{task}: timeout"),
                Edit::Placement(placement) => write!(f, "edit {graph}/{task}: placement = {placement:?}"),
                Edit::Condition(condition) => write!(f, "edit {graph}/{task}: condition = {condition}"),
            },
            Self::EditHelper => f.write_str("edit the helper `decorate`"),
            Self::EditFile => f.write_str("edit the copied file"),
            Self::Keep(graph, keep) => {
                write!(f, "on_definition_change of {graph} = {}", if *keep { "keep" } else { "rerun" })
            }
            Self::Label(uid, name, Some(value)) => write!(f, "label {name}={value} on node {uid}"),
            Self::Label(uid, name, None) => write!(f, "remove label {name} of node {uid}"),
            Self::Role(uid, role) => write!(f, "assign role {role} to node {uid}"),
            Self::Gateway(uid, gateway) => write!(f, "gateway of node {uid} = {gateway:?}"),
            Self::Online(uid, online) => {
                write!(f, "node {uid} goes {}", if *online { "online" } else { "offline" })
            }
            Self::MarkRemoval(uid, true) => write!(f, "mark node {uid} for removal"),
            Self::MarkRemoval(uid, false) => write!(f, "unmark node {uid}"),
            Self::AddNode(uid, role) => write!(f, "add node {uid} with role {role}"),
            Self::RemoveNode(uid) => write!(f, "node {uid} leaves the cluster"),
            Self::Replace(uid) => write!(f, "replace the machine of node {uid}"),
            Self::Reinstall(uid) => write!(f, "reinstall node {uid}"),
            Self::Reset => f.write_str("reset the cluster"),
            Self::Run(request) => write!(f, "{request}"),
            Self::LateResult(_) => f.write_str("a late result"),
        }
    }
}

impl fmt::Display for RunRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", if self.is_dry { "plan" } else { "run" }, self.graph)?;
        if let Some(nodes) = &self.scope.nodes {
            write!(f, " on nodes {nodes:?}")?;
        }
        if let Some(tasks) = &self.scope.tasks {
            write!(f, " tasks {tasks:?}")?;
        }
        if self.scope.force {
            f.write_str(" forced")?;
        }
        if let Some(uid) = &self.replaced {
            write!(f, ", the machine of node {uid} is replaced meanwhile")?;
        }
        Ok(())
    }
}
