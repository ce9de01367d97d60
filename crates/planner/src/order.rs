//! The order of instances: resolves the relations of all tasks and reports cycles.

use std::collections::{BTreeSet, HashMap};

use stoker_diagnostics::Diagnostic;
use stoker_graph::Csr;
use stoker_model::{NodeIdx, TaskIdx};

use crate::definition::Definition;
use crate::fields::{ComputedFields, members};
use crate::names::Names;
use crate::node_sets::{NodeSet, NodeSets, common};
use crate::order_builder::{Instances, Layout, OrderBuilder};
use crate::plan::NodeChoice;
use crate::relations::{Relation, TargetNodes, read};
use crate::report::{PlanningReport, codes};

pub(crate) struct Ordered {
    pub(crate) order: Csr,
    /// Edges from instances to the handlers that they trigger, with junctions of their own.
    pub(crate) triggers: Csr,
    /// Tasks that have triggers.
    pub(crate) handlers: BTreeSet<TaskIdx>,
    pub(crate) choices: Vec<NodeChoice>,
}

/// Computes the order. `relations` are the computed relation fields of the tasks.
pub(crate) fn order(
    definitions: &[Definition<'_>],
    relations: &[ComputedFields],
    layout: &Layout,
    names: &mut Names<'_>,
    node_sets: &mut NodeSets<'_>,
    report: &mut PlanningReport,
) -> Ordered {
    let mut ordering = Ordering {
        definitions,
        layout,
        names,
        node_sets,
        report,
        builder: OrderBuilder::new(layout),
        triggers: OrderBuilder::new(layout),
        handlers: BTreeSet::new(),
    };
    for done in relations {
        ordering.add_task(done);
    }
    let Ordering { builder, triggers, handlers, node_sets, report, .. } = ordering;
    let uids = &node_sets.nodes().uids;
    let choices = builder.choices.iter().map(|((task_idx, name), node_idx)| NodeChoice {
        task: definitions[task_idx.index()].name.to_owned(),
        name: name.clone(),
        node: uids[node_idx.index()].clone(),
    });
    let choices = choices.collect();
    let order = builder.finish();
    report_cycles(&order, definitions, layout, uids, report);
    Ordered { order, triggers: triggers.finish(), handlers, choices }
}

struct Ordering<'o, 'd, 'a, 'n> {
    definitions: &'o [Definition<'d>],
    layout: &'o Layout,
    names: &'o mut Names<'a>,
    node_sets: &'o mut NodeSets<'n>,
    report: &'o mut PlanningReport,
    builder: OrderBuilder<'o>,
    triggers: OrderBuilder<'o>,
    handlers: BTreeSet<TaskIdx>,
}

impl Ordering<'_, '_, '_, '_> {
    fn add_task(&mut self, done: &ComputedFields) {
        let definition = &self.definitions[done.task_idx.index()];
        for (class, values) in done.values.iter().enumerate() {
            let nodes: Vec<NodeIdx> = members(&done.nodes, &done.classes, class).collect();
            let nodes = self.node_sets.set_of(&nodes);
            for ((field, _), value) in definition.relations.iter().zip(values) {
                let Some(value) = value else { continue };
                let mut problems = Vec::new();
                for relation in read(definition.name, field, value, &mut problems) {
                    self.add_relation(done.task_idx, &nodes, &relation);
                }
                for problem in problems {
                    self.report.push(problem);
                }
            }
        }
    }

    fn add_relation(&mut self, task_idx: TaskIdx, nodes: &NodeSet, relation: &Relation) {
        let others = match self.names.resolve(&relation.name) {
            Ok(others) if others.is_empty() && relation.is_trigger => {
                return self.report_misspelt_trigger(task_idx, relation);
            }
            Ok(others) if others.is_empty() => return self.report_dangling(task_idx, relation),
            Ok(others) => others,
            Err(why) => {
                let message = format!("invalid pattern `{}`: {why}", relation.name);
                let name = self.definitions[task_idx.index()].name;
                return self
                    .report_once(Diagnostic::error(codes::PATTERN, message).task(name, &*relation.field));
            }
        };
        if relation.is_trigger {
            self.handlers.insert(task_idx);
        }
        match &relation.target {
            TargetNodes::OwnOrSync => {
                self.add_same_node(task_idx, nodes, &others, relation);
                let sync = self.node_sets.sync();
                self.add_across(task_idx, nodes, &others, &sync, relation);
            }
            TargetNodes::Own => self.add_same_node(task_idx, nodes, &others, relation),
            TargetNodes::Sync => {
                let sync = self.node_sets.sync();
                self.add_across(task_idx, nodes, &others, &sync, relation);
            }
            TargetNodes::Nodes(node_names) => {
                let reached = self.resolve_nodes(task_idx, node_names.as_ref(), relation);
                self.add_across(task_idx, nodes, &others, &reached, relation);
            }
            TargetNodes::AnyOf(node_names) => {
                let reached = self.resolve_nodes(task_idx, node_names.as_ref(), relation);
                self.add_any(task_idx, nodes, &others, &reached, relation);
            }
        }
    }

    fn add_same_node(&mut self, task_idx: TaskIdx, nodes: &NodeSet, others: &[TaskIdx], relation: &Relation) {
        for other_idx in others {
            let (before, after) =
                if relation.is_before { (*other_idx, task_idx) } else { (task_idx, *other_idx) };
            self.builder.add_same_node(before, after, nodes, self.node_sets);
            if relation.is_trigger {
                self.triggers.add_same_node(before, after, nodes, self.node_sets);
            }
        }
    }

    fn add_across(
        &mut self,
        task_idx: TaskIdx,
        nodes: &NodeSet,
        others: &[TaskIdx],
        reached: &NodeSet,
        relation: &Relation,
    ) {
        for other_idx in others {
            let target_nodes = common(&self.layout.nodes[other_idx.index()], reached);
            let other = Instances { task_idx: *other_idx, nodes: self.node_sets.set_of(&target_nodes) };
            let own = Instances { task_idx, nodes: nodes.clone() };
            let (before, after) = if relation.is_before { (other, own) } else { (own, other) };
            if relation.is_trigger {
                self.triggers.add_across(before.clone(), &after, self.node_sets);
            }
            self.builder.add_across(before, &after, self.node_sets);
        }
    }

    /// Resolves `policy: any` to the first node that has one of the tasks; all instances use the same node.
    fn add_any(
        &mut self,
        task_idx: TaskIdx,
        nodes: &NodeSet,
        others: &[TaskIdx],
        reached: &NodeSet,
        relation: &Relation,
    ) {
        let candidates = others.iter().filter(|other_idx| **other_idx != task_idx);
        let first =
            |other_idx: &TaskIdx| common(&self.layout.nodes[other_idx.index()], reached).first().copied();
        let Some(choice) = candidates.filter_map(first).min() else { return };
        self.builder.choices.insert((task_idx, relation.name.clone()), choice);
        let choice = self.node_sets.set(vec![choice]);
        self.add_across(task_idx, nodes, others, &choice, relation);
    }

    fn resolve_nodes(
        &mut self,
        task_idx: TaskIdx,
        node_names: Option<&stoker_model::Json>,
        relation: &Relation,
    ) -> NodeSet {
        let Some(node_names) = node_names else { return self.node_sets.everywhere() };
        let (nodes, problems) = self.node_sets.resolve(node_names);
        for message in problems {
            let name = self.definitions[task_idx.index()].name;
            self.report_once(Diagnostic::warning(codes::PATTERN, message).task(name, &*relation.field));
        }
        nodes
    }

    fn report_dangling(&mut self, task_idx: TaskIdx, relation: &Relation) {
        let message = format!("task `{}` does not exist, so the dependency has no effect", relation.name);
        let problem =
            Diagnostic::warning(codes::UNKNOWN_NAME, message).help_if(self.names.suggestion(&relation.name));
        self.report_once(problem.task(self.definitions[task_idx.index()].name, &*relation.field));
    }

    /// Entries of `refresh_on` may name resources of a configuration, as in Fuel; only a similar task name is suspicious.
    fn report_misspelt_trigger(&mut self, task_idx: TaskIdx, relation: &Relation) {
        let Some(help) = self.names.suggestion(&relation.name) else { return };
        let message = format!("task `{}` does not exist, so it does not trigger this task", relation.name);
        let problem = Diagnostic::warning(codes::UNKNOWN_NAME, message).help(help);
        self.report_once(problem.task(self.definitions[task_idx.index()].name, &*relation.field));
    }

    // Several classes of nodes can have the same problem: reports it once.
    fn report_once(&mut self, problem: Diagnostic) {
        if !self.report.problems.contains(&problem) {
            self.report.push(problem);
        }
    }
}

fn report_cycles(
    order: &Csr,
    definitions: &[Definition<'_>],
    layout: &Layout,
    uids: &[String],
    report: &mut PlanningReport,
) {
    if !order.has_cycle() {
        return;
    }
    let task_and_node = |vertex: &u32| {
        let task_idx = layout.first.partition_point(|first| first <= vertex) - 1;
        let node_idx = layout.nodes[task_idx][(*vertex - layout.first[task_idx]) as usize];
        (definitions[task_idx].name, uids[node_idx.index()].as_str())
    };
    // The same cycle on several nodes is one mistake: report it once.
    let mut cycles: Vec<(Vec<_>, BTreeSet<&str>)> = Vec::new();
    let mut index_of: HashMap<Vec<&str>, usize> = HashMap::new();
    for knot in order.cyclic_components() {
        let path = order.shortest_cycle(&knot);
        let path: Vec<_> =
            path.iter().filter(|vertex| **vertex < layout.n_instances()).map(task_and_node).collect();
        let path = close(path);
        let nodes: BTreeSet<&str> = path.iter().map(|(_, node)| *node).collect();
        let idx = *index_of.entry(path.iter().map(|(task, _)| *task).collect()).or_insert(cycles.len());
        match cycles.get_mut(idx) {
            Some((_, all)) => all.extend(nodes),
            None => cycles.push((path, nodes)),
        }
    }
    for (path, nodes) in cycles {
        let listed: BTreeSet<&str> = path.iter().map(|(_, node)| *node).collect();
        let steps: Vec<String> = path.iter().map(|(task, node)| format!("{task}@{node}")).collect();
        // The nodes of a single cycle are already in its path.
        let nodes = if nodes == listed { Vec::new() } else { in_order(&nodes, uids) };
        let more = match nodes.len().saturating_sub(listed.len()) {
            0 => String::new(),
            1 => ", and the same cycle on one more node".to_owned(),
            n_more => format!(", and the same cycle on {n_more} more nodes"),
        };
        let message = format!("dependency cycle: {}{more}", steps.join(" → "));
        let help = "remove one of these dependencies".to_owned();
        report.push(Diagnostic::error(codes::CYCLE, message).nodes(nodes).help(help));
    }
}

fn in_order(nodes: &BTreeSet<&str>, uids: &[String]) -> Vec<String> {
    uids.iter().filter(|uid| nodes.contains(uid.as_str())).cloned().collect()
}

/// Closes the path of a cycle: without its junction vertices the first and last vertex may differ.
fn close<T: Clone + PartialEq>(mut path: Vec<T>) -> Vec<T> {
    if path.len() < 2 || path.first() != path.last() {
        path.extend(path.first().cloned());
    }
    path
}
