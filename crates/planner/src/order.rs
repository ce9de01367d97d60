//! The order of instances: relations of all tasks resolved, cycles found.

use std::collections::{BTreeSet, HashMap};

use stoker_graph::Csr;

use crate::compute::subjects::{NodeIdx, TaskIdx};
use crate::definition::Definition;
use crate::fields::{Done, members};
use crate::names::Names;
use crate::places::{NodeSet, Places, common};
use crate::plan::Choice;
use crate::problem::{Problem, Report, codes};
use crate::relations::{Place, Relation, read};
use crate::wiring::{Layout, Wiring};

pub(crate) struct Ordered {
    pub(crate) order: Csr,
    pub(crate) choices: Vec<Choice>,
}

/// Works out the order. `relations` are the fields of the tasks, computed.
pub(crate) fn order(
    definitions: &[Definition<'_>],
    relations: &[Done],
    layout: &Layout,
    names: &mut Names<'_>,
    places: &mut Places<'_>,
    report: &mut Report,
) -> Ordered {
    let mut ordering = Ordering { definitions, layout, names, places, report, wiring: Wiring::new(layout) };
    for done in relations {
        ordering.task(done);
    }
    let Ordering { wiring, places, report, .. } = ordering;
    let uids = &places.nodes().uids;
    let choices = wiring.choices.iter().map(|((task_idx, name), node_idx)| Choice {
        task: definitions[*task_idx as usize].name.to_owned(),
        name: name.clone(),
        node: uids[*node_idx as usize].clone(),
    });
    let choices = choices.collect();
    let order = wiring.finish();
    report_cycles(&order, definitions, layout, uids, report);
    Ordered { order, choices }
}

struct Ordering<'o, 'd, 'a, 'n> {
    definitions: &'o [Definition<'d>],
    layout: &'o Layout,
    names: &'o mut Names<'a>,
    places: &'o mut Places<'n>,
    report: &'o mut Report,
    wiring: Wiring<'o>,
}

impl Ordering<'_, '_, '_, '_> {
    fn task(&mut self, done: &Done) {
        let definition = &self.definitions[done.task_idx as usize];
        for (class, values) in done.values.iter().enumerate() {
            let nodes: Vec<NodeIdx> = members(&done.nodes, &done.classes, class).collect();
            let nodes = self.places.set_of(&nodes);
            for ((field, _), value) in definition.relations.iter().zip(values) {
                let Some(value) = value else { continue };
                let mut complaints = Vec::new();
                for relation in read(field, value, &mut complaints) {
                    self.relation(done.task_idx, &nodes, &relation);
                }
                for (path, message) in complaints {
                    self.report.push(Problem::error(codes::FIELD, message).at(definition.name, path));
                }
            }
        }
    }

    fn relation(&mut self, task_idx: TaskIdx, nodes: &NodeSet, relation: &Relation) {
        let others = match self.names.meaning(&relation.name) {
            Ok(others) if others.is_empty() => return self.dangling(task_idx, relation),
            Ok(others) => others,
            Err(why) => {
                let message = format!("`{}` is no pattern: {why}", relation.name);
                let name = self.definitions[task_idx as usize].name;
                return self.once(Problem::error(codes::PATTERN, message).at(name, &*relation.field));
            }
        };
        match &relation.place {
            Place::OwnOrSync => {
                self.beside(task_idx, nodes, &others, relation);
                let sync = self.places.sync();
                self.across(task_idx, nodes, &others, &sync, relation);
            }
            Place::Own => self.beside(task_idx, nodes, &others, relation),
            Place::Sync => {
                let sync = self.places.sync();
                self.across(task_idx, nodes, &others, &sync, relation);
            }
            Place::Nodes(said) => {
                let reached = self.reached(task_idx, said.as_ref(), relation);
                self.across(task_idx, nodes, &others, &reached, relation);
            }
            Place::AnyOf(said) => {
                let reached = self.reached(task_idx, said.as_ref(), relation);
                self.any(task_idx, nodes, &others, &reached, relation);
            }
        }
    }

    fn beside(&mut self, task_idx: TaskIdx, nodes: &NodeSet, others: &[TaskIdx], relation: &Relation) {
        for other_idx in others {
            let (before, after) =
                if relation.is_before { (*other_idx, task_idx) } else { (task_idx, *other_idx) };
            self.wiring.beside(before, after, nodes, self.places);
        }
    }

    fn across(
        &mut self,
        task_idx: TaskIdx,
        nodes: &NodeSet,
        others: &[TaskIdx],
        reached: &NodeSet,
        relation: &Relation,
    ) {
        for other_idx in others {
            let found = common(&self.layout.nodes[*other_idx as usize], reached);
            let other = (*other_idx, self.places.set_of(&found));
            let own = (task_idx, nodes.clone());
            let (before, after) = if relation.is_before { (other, own) } else { (own, other) };
            self.wiring.across(before, &after, self.places);
        }
    }

    /// One node of those that have such a task: the first, and the same one for all instances.
    fn any(
        &mut self,
        task_idx: TaskIdx,
        nodes: &NodeSet,
        others: &[TaskIdx],
        reached: &NodeSet,
        relation: &Relation,
    ) {
        let candidates = others.iter().filter(|other_idx| **other_idx != task_idx);
        let first =
            |other_idx: &TaskIdx| common(&self.layout.nodes[*other_idx as usize], reached).first().copied();
        let Some(chosen) = candidates.filter_map(first).min() else { return };
        self.wiring.choices.insert((task_idx, relation.name.clone()), chosen);
        let chosen = self.places.set(vec![chosen]);
        self.across(task_idx, nodes, others, &chosen, relation);
    }

    fn reached(
        &mut self,
        task_idx: TaskIdx,
        said: Option<&stoker_model::Json>,
        relation: &Relation,
    ) -> NodeSet {
        let Some(said) = said else { return self.places.everywhere() };
        let (nodes, complaints) = self.places.resolve(said);
        for complaint in complaints {
            let name = self.definitions[task_idx as usize].name;
            self.once(Problem::warning(codes::PATTERN, complaint).at(name, &*relation.field));
        }
        nodes
    }

    fn dangling(&mut self, task_idx: TaskIdx, relation: &Relation) {
        let message = format!("there is no task `{}`, so it has no effect", relation.name);
        let problem =
            Problem::warning(codes::UNKNOWN_NAME, message).help(self.names.suggestion(&relation.name));
        self.once(problem.at(self.definitions[task_idx as usize].name, &*relation.field));
    }

    /// Classes of nodes repeat what is wrong with all of them.
    fn once(&mut self, problem: Problem) {
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
    report: &mut Report,
) {
    if !order.has_cycle() {
        return;
    }
    let place = |vertex: &u32| {
        let task_idx = layout.first.partition_point(|first| first <= vertex) - 1;
        let node_idx = layout.nodes[task_idx][(*vertex - layout.first[task_idx]) as usize];
        (definitions[task_idx].name, uids[node_idx as usize].as_str())
    };
    // Nodes of one kind have the same cycle each: that is one mistake.
    let mut cycles: Vec<(Vec<_>, BTreeSet<&str>)> = Vec::new();
    let mut known: HashMap<Vec<&str>, usize> = HashMap::new();
    for knot in order.knots() {
        let path = order.shortest_cycle(&knot);
        let path: Vec<_> = path.iter().filter(|vertex| **vertex < layout.n_instances()).map(place).collect();
        let path = closed(path);
        let nodes: BTreeSet<&str> = path.iter().map(|(_, node)| *node).collect();
        let idx = *known.entry(path.iter().map(|(task, _)| *task).collect()).or_insert(cycles.len());
        match cycles.get_mut(idx) {
            Some((_, all)) => all.extend(nodes),
            None => cycles.push((path, nodes)),
        }
    }
    for (path, nodes) in cycles {
        let told: BTreeSet<&str> = path.iter().map(|(_, node)| *node).collect();
        let words: Vec<String> = path.iter().map(|(task, node)| format!("{task}@{node}")).collect();
        // Those of a single cycle are in its path.
        let nodes = if nodes == told { Vec::new() } else { in_order(&nodes, uids) };
        let more = match nodes.len().saturating_sub(told.len()) {
            0 => String::new(),
            1 => ", and the same on one more node".to_owned(),
            n_more => format!(", and the same on {n_more} more nodes"),
        };
        let message = format!("tasks wait for each other: {}{more}", words.join(" → "));
        let help = "take one of these dependencies away".to_owned();
        report.push(Problem::error(codes::CYCLE, message).on(nodes).help(help));
    }
}

fn in_order(nodes: &BTreeSet<&str>, uids: &[String]) -> Vec<String> {
    uids.iter().filter(|uid| nodes.contains(uid.as_str())).cloned().collect()
}

/// A path that began where sets meet is not closed any more without that vertex.
fn closed<T: Clone + PartialEq>(mut path: Vec<T>) -> Vec<T> {
    if path.len() < 2 || path.first() != path.last() {
        path.extend(path.first().cloned());
    }
    path
}
