//! Random histories from a seed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};

use super::expression::{Condition, Parameter, Path};
use super::history::{Edit, History, Operation, RunRequest, TaskRef};
use super::site::{
    GRAPH_TYPES, NEW, Placement, ROLES, Scope, Site, SiteGraph, SiteGroup, SiteNode, SiteTask,
};
use crate::rng::Rng;

const N_NODES_MAX: u64 = 5;
const N_TASKS_MAX: u64 = 5;
const N_OPERATIONS: (u64, u64) = (3, 14);
const TITLES: &[&str] = &["good", "bad", "ugly"];
const USERS: &[&str] = &["ada", "bob", "cid"];

/// Paths that only `changed` and its kin may read: some of them are absent at times.
const OBSERVABLE: &[Path] = &[
    Path::Setting(&["shop", "title"]),
    Path::Setting(&["shop", "users"]),
    Path::Setting(&["shop"]),
    Path::Setting(&["db", "pool"]),
    Path::Setting(&["db", "pool", "size"]),
    Path::Setting(&["db", "pool", "owner", "name"]),
    Path::Setting(&["extra"]),
    Path::Setting(&["extra", "note"]),
    Path::Setting(&["extra", "note", "deep"]),
    Path::Setting(&["nowhere"]),
    Path::Setting(&["nowhere", "at", "all"]),
    Path::Labels,
    Path::Label("rack"),
    Path::NetworkScheme,
    Path::Status,
    Path::ClusterStatus,
    Path::Nodes,
    Path::Nodes,
    Path::NodesOf("web"),
    Path::NodesOf("db"),
    Path::NodeUids,
];

/// Paths that are never absent.
const READABLE: &[Path] = &[
    Path::Setting(&["shop", "title"]),
    Path::Setting(&["shop", "users"]),
    Path::Setting(&["db", "pool"]),
    Path::Setting(&["db", "pool", "size"]),
    Path::ClusterStatus,
    Path::NodeUids,
    Path::NodeStatuses,
    Path::Labels,
    Path::Status,
];

pub(crate) fn generate(seed: u64) -> History {
    let mut generator = Generator { rng: Rng::new(seed) };
    let site = generator.site();
    let mut operations = vec![Operation::Run(generator.run("default"))];
    for _ in 0..generator.rng.between(N_OPERATIONS.0, N_OPERATIONS.1) {
        generator.extend(&site, &mut operations);
    }
    History { site, operations }
}

struct Generator {
    rng: Rng,
}

impl Generator {
    fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        self.rng.pick(items).expect("a list of choices is not empty").clone()
    }

    fn site(&mut self) -> Site {
        let n_nodes = self.rng.between(1, N_NODES_MAX);
        let nodes = (1..=n_nodes).map(|uid| (uid.to_string(), SiteNode::new(self.pick(ROLES)))).collect();
        let mut settings = BTreeMap::new();
        for name in [("shop", "title"), ("shop", "users"), ("shop", "debug"), ("db", "pool")] {
            settings.insert(name, self.value(name.1));
        }
        if self.rng.one_in(3) {
            settings.insert(("extra", "note"), self.value("note"));
        }
        let n_types = self.rng.between(1, GRAPH_TYPES.len() as u64) as usize;
        let mut graphs = BTreeMap::from([(GRAPH_TYPES[0], self.graph())]);
        for graph_type in &GRAPH_TYPES[1..n_types] {
            // Graph types often share tasks.
            let is_copy = self.rng.one_in(2);
            let graph = if is_copy { graphs[GRAPH_TYPES[0]].clone() } else { self.graph() };
            graphs.insert(graph_type, graph);
        }
        Site { nodes, settings, status: NEW, helper: 1, file: 1, graphs }
    }

    fn value(&mut self, name: &str) -> Json {
        match name {
            "title" => json!(self.pick(TITLES)),
            "users" => {
                json!(USERS.iter().filter(|_| self.rng.one_in(2)).collect::<Vec<_>>())
            }
            "debug" => json!(self.rng.one_in(2)),
            "pool" if self.rng.one_in(3) => json!({"size": self.rng.below(2)}),
            "pool" => json!({"size": self.rng.below(2), "owner": {"name": self.pick(USERS)}}),
            _ if self.rng.one_in(3) => json!({"flat": 1}),
            _ => json!({"deep": self.rng.below(2)}),
        }
    }

    fn graph(&mut self) -> SiteGraph {
        let n_tasks = self.rng.between(1, N_TASKS_MAX);
        let mut tasks: BTreeMap<String, SiteTask> =
            (0..n_tasks).map(|number| (format!("t{number}"), self.task())).collect();
        let names: Vec<String> = tasks.keys().cloned().collect();
        for (idx, name) in names.iter().enumerate().skip(1) {
            if let Some(task) = tasks.get_mut(name).filter(|_| self.rng.one_in(5)) {
                task.trigger = Some(self.pick(&names[..idx]));
            }
        }
        let n_groups = if self.rng.one_in(2) { self.rng.between(1, 2) } else { 0 };
        let mut groups = BTreeMap::new();
        for number in 0..n_groups {
            let others = tasks.iter().filter(|(_, task)| task.trigger.is_none());
            let members: BTreeSet<String> =
                others.filter(|_| self.rng.one_in(2)).map(|(name, _)| name.clone()).collect();
            for member in &members {
                if let Some(task) = tasks.get_mut(member).filter(|_| self.rng.one_in(2)) {
                    task.placement = Placement::Nowhere;
                }
            }
            let placement =
                if self.rng.one_in(2) { Placement::All } else { Placement::Role(self.pick(ROLES)) };
            let condition = (!self.rng.one_in(4)).then(|| self.group_condition());
            groups.insert(format!("g{number}"), SiteGroup { placement, condition, members });
        }
        SiteGraph { tasks, groups, keep: self.rng.one_in(6) }
    }

    /// `inputsChanged()` is not available in groups.
    fn group_condition(&mut self) -> Condition {
        loop {
            let condition = self.condition(1);
            if !condition.uses_inputs() {
                return condition;
            }
        }
    }

    fn task(&mut self) -> SiteTask {
        let placement = match self.rng.below(6) {
            0 => Placement::Master,
            1 | 2 => Placement::Role(self.pick(ROLES)),
            _ => Placement::All,
        };
        let is_on_nodes = placement != Placement::Master;
        SiteTask {
            is_version_3: self.rng.one_in(2),
            condition: if self.rng.one_in(4) { None } else { Some(self.condition(2)) },
            copies_file: self.rng.one_in(6),
            command: 1,
            parameters: self.parameters(is_on_nodes),
            timeout: 60,
            trigger: None,
            placement,
        }
    }

    fn parameters(&mut self, is_on_nodes: bool) -> Vec<Parameter> {
        (0..self.rng.below(3)).map(|_| self.parameter(is_on_nodes)).collect()
    }

    fn parameter(&mut self, is_on_nodes: bool) -> Parameter {
        match self.rng.below(8) {
            0 => Parameter::Added(Path::Setting(&["shop", "users"])),
            1 => Parameter::Old(Path::Setting(&["shop", "title"])),
            2 => Parameter::Decorated(Path::Setting(&["shop", "title"])),
            3 => Parameter::Section(self.pick(&["extra", "db"])),
            _ => {
                let path = self.pick(READABLE);
                let is_absent = path.is_own() && !is_on_nodes;
                Parameter::Read(if is_absent { Path::ClusterStatus } else { path })
            }
        }
    }

    fn condition(&mut self, depth: u32) -> Condition {
        if self.rng.one_in(10) {
            // A clean-up task that also prepares new clusters: it has an applied state, and is decided by `deleted`
            // later.
            let is_new = Condition::ClusterStatusIn(vec!["new"]);
            return Condition::Or(
                Box::new(is_new),
                Box::new(Condition::Deleted(Path::Setting(&["shop", "users"]))),
            );
        }
        if depth > 0 && self.rng.one_in(3) {
            let left = Box::new(self.condition(depth - 1));
            return match self.rng.below(5) {
                0 => Condition::Not(left),
                1 | 2 => Condition::And(left, Box::new(self.condition(depth - 1))),
                _ => Condition::Or(left, Box::new(self.condition(depth - 1))),
            };
        }
        match self.rng.below(16) {
            0 => {
                let paths = vec![self.pick(OBSERVABLE), self.pick(OBSERVABLE)];
                Condition::ChangedAny(paths)
            }
            1 => {
                let paths = vec![self.pick(OBSERVABLE), self.pick(OBSERVABLE)];
                Condition::ChangedAll(paths)
            }
            2 => Condition::Moved(self.pick(&["shop", "extra"])),
            3 | 14 | 15 => Condition::Deleted(Path::Setting(&["shop", "users"])),
            4 => Condition::OldIs(Path::Setting(&["shop", "title"]), self.pick(TITLES)),
            5 => Condition::Debug,
            6 => Condition::ClusterStatusIn(
                self.pick(&[vec!["new"], vec!["operational", "partially_deployed"]]),
            ),
            7 | 8 => Condition::InputsChanged,
            _ => Condition::Changed(self.pick(OBSERVABLE)),
        }
    }

    fn run(&mut self, graph: &'static str) -> RunRequest {
        RunRequest {
            graph,
            scope: Scope::default(),
            is_dry: false,
            luck: self.rng.next_u64(),
            failing: self.pick(&[0, 0, 2, 4, 8]),
            replaced: None,
        }
    }

    fn uid(&mut self) -> String {
        self.rng.between(1, N_NODES_MAX).to_string()
    }

    fn task_ref(&mut self, site: &Site) -> TaskRef {
        let graphs: Vec<&'static str> = site.graphs.keys().copied().collect();
        let graph = self.pick(&graphs);
        let SiteGraph { tasks, groups, .. } = &site.graphs[graph];
        let tasks: Vec<String> = tasks.keys().chain(groups.keys()).cloned().collect();
        TaskRef { graph, task: self.pick(&tasks) }
    }

    /// Adds the next operations; half of them are runs.
    fn extend(&mut self, site: &Site, operations: &mut Vec<Operation>) {
        let graphs: Vec<&'static str> = site.graphs.keys().copied().collect();
        match self.rng.below(30) {
            0..=8 => {
                let graph = self.pick(&graphs);
                operations.push(Operation::Run(self.run(graph)));
            }
            9..=11 => {
                let graph = self.pick(&graphs);
                let request = self.special_run(graph, site);
                operations.push(Operation::Run(request));
            }
            12 => {
                // A sequence.
                for graph in graphs {
                    operations.push(Operation::Run(self.run(graph)));
                }
            }
            13..=17 => {
                let (section, name) = self.pick(&[
                    ("shop", "title"),
                    ("shop", "title"),
                    ("shop", "users"),
                    ("shop", "debug"),
                    ("db", "pool"),
                    ("extra", "note"),
                ]);
                let is_removed = name == "note" && self.rng.one_in(3);
                let value = (!is_removed).then(|| self.value(name));
                operations.push(Operation::Set(section, name, value));
            }
            18..=20 => {
                let task_ref = self.task_ref(site);
                let edit = self.edit(site, &task_ref);
                operations.push(Operation::Edit(task_ref, edit));
            }
            21 => operations.push(self.pick(&[Operation::EditHelper, Operation::EditFile])),
            22 => {
                let keep = self.rng.one_in(2);
                operations.push(Operation::Keep(self.pick(&graphs), keep));
            }
            23 => operations.push(Operation::LateResult(self.rng.next_u64())),
            24 | 25 => {
                let graph = self.pick(&graphs);
                self.change_and_revert(graph, operations);
            }
            _ => operations.push(self.node_operation()),
        }
    }

    /// A change, a run that applies only a part of it, and a revert: the sequence in which a wrong memory hides most.
    fn change_and_revert(&mut self, graph: &'static str, operations: &mut Vec<Operation>) {
        let (section, name) =
            self.pick(&[("shop", "title"), ("shop", "users"), ("shop", "users"), ("db", "pool")]);
        let (before, after) = (self.value(name), self.value(name));
        operations.push(Operation::Set(section, name, Some(before.clone())));
        operations.push(Operation::Run(RunRequest { failing: 0, ..self.run(graph) }));
        operations.push(Operation::Set(section, name, Some(after)));
        operations.push(Operation::Run(RunRequest { failing: 2, ..self.run(graph) }));
        if self.rng.one_in(2) {
            operations.push(Operation::Set(section, name, Some(before)));
        }
    }

    fn special_run(&mut self, graph: &'static str, site: &Site) -> RunRequest {
        let mut request = self.run(graph);
        match self.rng.below(7) {
            0 | 1 => {
                let nodes: BTreeSet<String> = (0..=self.rng.below(2)).map(|_| self.uid()).collect();
                request.scope.nodes = Some(nodes);
            }
            2 => {
                let tasks = site.graphs[graph].tasks.keys();
                request.scope.tasks = Some(tasks.filter(|_| self.rng.one_in(2)).cloned().collect());
            }
            3 => request.scope.force = true,
            4 => request.is_dry = true,
            _ => {
                let nodes: Vec<String> = site.nodes.keys().cloned().collect();
                (request.replaced, request.failing) = (Some(self.pick(&nodes)), 0);
            }
        }
        request
    }

    fn edit(&mut self, site: &Site, TaskRef { graph, task }: &TaskRef) -> Edit {
        let placements = [Placement::All, Placement::Role("web"), Placement::Role("db")];
        let Some(task) = site.graphs[graph].tasks.get(task) else {
            return if self.rng.one_in(2) {
                Edit::Placement(self.pick(&placements))
            } else {
                Edit::Condition(self.group_condition())
            };
        };
        match self.rng.below(6) {
            0 | 1 => Edit::Command,
            2 => Edit::Parameters(self.parameters(task.placement != Placement::Master)),
            3 => Edit::Timeout,
            4 if task.placement != Placement::Master => Edit::Placement(self.pick(&placements)),
            _ => {
                let uses_inputs =
                    |condition: Option<Condition>| condition.is_some_and(|condition| condition.uses_inputs());
                let condition = self.condition(2);
                // The fingerprint of a task that did not compare inputs is not rendered in the steady state.
                if uses_inputs(Some(condition.clone())) == uses_inputs(task.effective_condition()) {
                    Edit::Condition(condition)
                } else {
                    Edit::Timeout
                }
            }
        }
    }

    fn node_operation(&mut self) -> Operation {
        let uid = self.uid();
        match self.rng.below(12) {
            0 | 1 => {
                let value = (!self.rng.one_in(4)).then(|| self.rng.below(2) as u32);
                Operation::Label(uid, self.pick(&["rack", "zone"]), value)
            }
            2 => Operation::Role(uid, self.pick(ROLES)),
            3 => Operation::Gateway(uid, (!self.rng.one_in(4)).then(|| self.rng.below(2) as u32)),
            4 => Operation::Online(uid, false),
            5 => Operation::Online(uid, true),
            6 => Operation::MarkRemoval(uid, self.rng.one_in(2)),
            7 => Operation::AddNode(uid, self.pick(ROLES)),
            8 => Operation::RemoveNode(uid),
            9 => Operation::Replace(uid),
            10 => Operation::Reinstall(uid),
            _ if self.rng.one_in(3) => Operation::Reset,
            _ => Operation::AddNode(uid, self.pick(ROLES)),
        }
    }
}
