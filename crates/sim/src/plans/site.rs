//! The site of a history: nodes, settings and graphs as operators see them. Both the planner's world and the oracle
//! read it, each in its own way.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};

use super::expression::{Condition, Parameter};

pub(crate) const READY: &str = "ready";
pub(crate) const ERROR: &str = "error";
pub(crate) const DISCOVER: &str = "discover";
pub(crate) const PROVISIONED: &str = "provisioned";
pub(crate) const NEW: &str = "new";
pub(crate) const OPERATIONAL: &str = "operational";
pub(crate) const PARTIALLY_DEPLOYED: &str = "partially_deployed";
pub(crate) const DEPLOYMENT: &str = "deployment";

pub(crate) const ROLES: &[&str] = &["web", "db"];
/// The uid of the master, which has no record and no own document of interest.
pub(crate) const MASTER: &str = "master";
pub(crate) const GRAPH_TYPES: &[&str] = &["default", "upgrade"];

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Site {
    /// By uid, in the numeric order of the uids, which have one digit.
    pub(crate) nodes: BTreeMap<String, SiteNode>,
    /// By section and name.
    pub(crate) settings: BTreeMap<(&'static str, &'static str), Json>,
    pub(crate) status: &'static str,
    /// Version of the body of the helper `decorate`.
    pub(crate) helper: u32,
    /// Version of the content of the file that tasks copy.
    pub(crate) file: u32,
    /// By graph type.
    pub(crate) graphs: BTreeMap<&'static str, SiteGraph>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SiteNode {
    pub(crate) status: &'static str,
    pub(crate) roles: BTreeSet<&'static str>,
    pub(crate) pending_roles: BTreeSet<&'static str>,
    pub(crate) pending_addition: bool,
    pub(crate) pending_deletion: bool,
    pub(crate) online: bool,
    pub(crate) labels: BTreeMap<&'static str, u32>,
    /// Gateway of its default route, once its agent has reported one.
    pub(crate) gateway: Option<u32>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SiteGraph {
    pub(crate) tasks: BTreeMap<String, SiteTask>,
    pub(crate) groups: BTreeMap<String, SiteGroup>,
    /// `on_definition_change: keep`.
    pub(crate) keep: bool,
}

/// Places its members, and decides for them on these nodes if it has a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SiteGroup {
    pub(crate) placement: Placement,
    pub(crate) condition: Option<Condition>,
    /// Names of tasks, which may no longer exist.
    pub(crate) members: BTreeSet<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Placement {
    All,
    Role(&'static str),
    Master,
    /// No placement of its own: only groups place the task.
    Nowhere,
}

impl Placement {
    fn field(&self) -> Option<Json> {
        match self {
            Self::All => Some(json!("*")),
            Self::Role(role) => Some(json!([role])),
            Self::Master => Some(json!([MASTER])),
            Self::Nowhere => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SiteTask {
    /// `version: 3.0.0`: `inputsChanged()` is the default condition.
    pub(crate) is_version_3: bool,
    pub(crate) placement: Placement,
    pub(crate) condition: Option<Condition>,
    /// Copies a file instead of running a command.
    pub(crate) copies_file: bool,
    /// Version of its command, as written.
    pub(crate) command: u32,
    pub(crate) parameters: Vec<Parameter>,
    /// Seconds; a scheduling attribute.
    pub(crate) timeout: u32,
    /// The task that triggers this one on the same node. Its name sorts before that of this task.
    pub(crate) trigger: Option<String>,
}

pub(crate) const FILE: &str = "/srv/motd";

impl SiteTask {
    /// The condition that decides, the default included.
    pub(crate) fn effective_condition(&self) -> Option<Condition> {
        let default = self.is_version_3.then_some(Condition::InputsChanged);
        self.condition.clone().or(default)
    }

    /// The fields of the task as a user writes them.
    pub(crate) fn fields(&self) -> Json {
        let mut parameters = json!({"timeout": self.timeout});
        if self.copies_file {
            parameters["files"] = json!([{"src": FILE, "dst": format!("/etc/motd-{}", self.command)}]);
        } else {
            parameters["cmd"] = json!(format!("install {}", self.command));
        }
        for (number, parameter) in self.parameters.iter().enumerate() {
            parameters[format!("p{number}")] = json!({"yaql_exp": parameter.to_string()});
        }
        let mut fields = json!({
            "type": if self.copies_file { "copy_files" } else { "shell" },
            "version": if self.is_version_3 { "3.0.0" } else { "2.1.0" },
            "parameters": parameters,
        });
        if let Some(roles) = self.placement.field() {
            fields["roles"] = roles;
        }
        if let Some(condition) = &self.condition {
            fields["condition"] = json!({"yaql_exp": condition.to_string()});
        }
        fields
    }
}

impl SiteGroup {
    /// The fields of the group as a user writes them.
    fn fields(&self, tasks: &BTreeMap<String, SiteTask>) -> Json {
        let members: Vec<&String> = self.members.iter().filter(|name| tasks.contains_key(*name)).collect();
        let mut fields = json!({"type": "group", "version": "2.1.0", "tasks": members});
        if let Some(roles) = self.placement.field() {
            fields["roles"] = roles;
        }
        if let Some(condition) = &self.condition {
            fields["condition"] = json!({"yaql_exp": condition.to_string()});
        }
        fields
    }
}

impl SiteGraph {
    /// Tasks and groups as a user writes them.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&String, Json)> {
        let tasks = self.tasks.iter().map(|(name, task)| {
            let mut fields = task.fields();
            if let Some(trigger) = self.trigger_of(name) {
                fields["refresh_on"] = json!([trigger]);
            }
            (name, fields)
        });
        tasks.chain(self.groups.iter().map(|(name, group)| (name, group.fields(&self.tasks))))
    }

    /// The tasks that a task triggers.
    pub(crate) fn handlers_of(&self, trigger: &str) -> impl Iterator<Item = &String> {
        let is_handler = move |task: &SiteTask| task.trigger.as_deref() == Some(trigger);
        self.tasks.iter().filter(move |(_, task)| is_handler(task)).map(|(name, _)| name)
    }

    /// The trigger of a task, if it still exists.
    pub(crate) fn trigger_of(&self, task: &str) -> Option<&String> {
        self.tasks[task].trigger.as_ref().filter(|trigger| self.tasks.contains_key(*trigger))
    }

    pub(crate) fn groups_of(&self, task: &str) -> impl Iterator<Item = &SiteGroup> {
        self.groups.values().filter(move |group| group.members.contains(task))
    }
}

impl SiteNode {
    pub(crate) fn new(role: &'static str) -> Self {
        Self {
            status: DISCOVER,
            roles: BTreeSet::new(),
            pending_roles: BTreeSet::from([role]),
            pending_addition: true,
            pending_deletion: false,
            online: true,
            labels: BTreeMap::new(),
            gateway: None,
        }
    }

    pub(crate) fn all_roles(&self) -> BTreeSet<&'static str> {
        self.roles.union(&self.pending_roles).copied().collect()
    }

    /// Puts the node into the state of a newly assigned one.
    pub(crate) fn redeploy(&mut self) {
        (self.pending_roles, self.roles) = (self.all_roles(), BTreeSet::new());
        (self.status, self.pending_addition) = (DISCOVER, true);
    }

    pub(crate) fn become_ready(&mut self) {
        (self.roles, self.pending_roles) = (self.all_roles(), BTreeSet::new());
        (self.status, self.pending_addition) = (READY, false);
    }
}

/// Which part of a graph and of the site a plan covers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scope {
    pub(crate) nodes: Option<BTreeSet<String>>,
    pub(crate) tasks: Option<BTreeSet<String>>,
    pub(crate) force: bool,
}

impl Scope {
    pub(crate) fn selects_task(&self, task: &str) -> bool {
        self.tasks.as_ref().is_none_or(|tasks| tasks.contains(task))
    }

    fn selects(&self, uid: &str) -> bool {
        self.nodes.as_ref().is_none_or(|nodes| nodes.contains(uid))
    }
}

impl Site {
    /// The nodes that a plan includes. A list of nodes overrides the node filter, which excludes nodes that are marked
    /// for removal.
    pub(crate) fn included(&self, scope: &Scope) -> BTreeSet<String> {
        let is_included = |(uid, node): &(&String, &SiteNode)| {
            node.online && scope.selects(uid) && (scope.nodes.is_some() || !node.pending_deletion)
        };
        self.nodes.iter().filter(is_included).map(|(uid, _)| uid.clone()).collect()
    }

    /// The included nodes with at least one task. A run gives only them another status.
    pub(crate) fn occupied(&self, graph_type: &str, scope: &Scope) -> BTreeSet<String> {
        let (included, graph) = (self.included(scope), &self.graphs[graph_type]);
        let placed = graph.tasks.keys().flat_map(|task| self.placed(graph, task, &included));
        placed.filter(|uid| uid != MASTER).collect()
    }

    /// Whether the plan leaves out an offline node.
    pub(crate) fn leaves_out(&self, scope: &Scope) -> bool {
        self.nodes.iter().any(|(uid, node)| !node.online && scope.selects(uid))
    }

    /// Where a task of a plan runs, without regard to conditions: on its own nodes, and on those of its groups.
    pub(crate) fn placed(
        &self,
        graph: &SiteGraph,
        task: &str,
        included: &BTreeSet<String>,
    ) -> BTreeSet<String> {
        let master = MASTER.to_owned();
        let groups = graph.groups_of(task).map(|group| &group.placement);
        let placements: Vec<&Placement> = groups.chain([&graph.tasks[task].placement]).collect();
        let uids = included.iter().chain([&master]);
        uids.filter(|uid| placements.iter().any(|placement| self.has(placement, uid))).cloned().collect()
    }

    /// Whether a placement includes a node.
    pub(crate) fn has(&self, placement: &Placement, uid: &str) -> bool {
        match placement {
            Placement::All => uid != MASTER,
            Placement::Role(role) => self.nodes.get(uid).is_some_and(|node| node.all_roles().contains(role)),
            Placement::Master => uid == MASTER,
            Placement::Nowhere => false,
        }
    }

    /// The conditions of the groups that give a task one of its nodes; `None` if it has the node regardless of them.
    pub(crate) fn group_conditions<'s>(
        &self,
        graph: &'s SiteGraph,
        task: &str,
        uid: &str,
    ) -> Option<Vec<&'s Condition>> {
        if self.has(&graph.tasks[task].placement, uid) {
            return None;
        }
        let groups = graph.groups_of(task).filter(|group| self.has(&group.placement, uid));
        groups.map(|group| group.condition.as_ref()).collect()
    }

    /// The status of the cluster that its nodes give it after a run.
    pub(crate) fn status_after(&self, is_partial: bool) -> &'static str {
        let mut nodes = self.nodes.values();
        if is_partial {
            PARTIALLY_DEPLOYED
        } else if nodes.clone().all(|node| node.status == READY) {
            OPERATIONAL
        } else if nodes.all(|node| node.pending_addition && node.status != ERROR) {
            NEW
        } else {
            PARTIALLY_DEPLOYED
        }
    }
}
