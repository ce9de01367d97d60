//! Tasks that wait for each other.
//!
//! * An error is a cycle that exists as soon as the roles it names do: it is found in a world with one node for each
//!   role ([`super::instances`]). Relations across nodes count there as much as those on one node.
//! * A warning is a cycle over definitions that needs luck: one node with several roles, a choice of `policy: any`, or
//!   places that are computed. Tasks that can never be on one node (`x` and `primary-x`, the master and the others) do
//!   not make one.
//! * A warning is also a relation of a task to its own name: it leaves out the own instance only, so on two nodes
//!   each instance waits for the other.
//!
//! Groups are never run and make no cycle. One cycle is told for each knot of tasks that reach each other; when it is
//! cut, what is left of the knot is told next time.

use std::collections::{BTreeSet, HashMap};

use super::instances::World;
use super::links::{Link, Place};
use super::names::Names;
use super::spots::Spots;
use super::{Scope, Subject};
use crate::csr::Csr;
use crate::finding::{Finding, codes};

pub(super) fn check<'a>(subject: &Subject<'_, 'a>, names: &mut Names<'a>, findings: &mut Vec<Finding>) {
    let world = World::new(subject, &mut names.effort);
    check_own_names(subject, &world, names, findings);
    let certain = certain_cycles(subject, &world, names);
    findings.extend(certain.iter().map(|cycle| certain_finding(cycle, subject)));
    let tangled: Vec<BTreeSet<u32>> = certain.into_iter().map(|cycle| cycle.members).collect();
    check_possible(subject, names, &tangled, findings);
}

/// Tasks shown at each end of a long cycle.
const SHOWN_MAX: usize = 10;

struct Cycle {
    /// In order of time, the smallest first, not repeated at the end.
    tasks: Vec<u32>,
    members: BTreeSet<u32>,
    /// Where it happens, if that is one place.
    place: Option<String>,
}

impl Cycle {
    fn new(mut tasks: Vec<u32>, place: Option<String>) -> Self {
        tasks.dedup();
        if tasks.len() > 1 && tasks.first() == tasks.last() {
            tasks.pop();
        }
        let start = (0..tasks.len()).min_by_key(|at| tasks[*at]).unwrap_or_default();
        tasks.rotate_left(start);
        let members = tasks.iter().copied().collect();
        Self { tasks, members, place }
    }

    /// `a → b → a`; of a long one the beginning and the end.
    fn words(&self, subject: &Subject<'_, '_>) -> String {
        let closed = self.tasks.iter().chain(self.tasks.first());
        let mut names: Vec<String> =
            closed.map(|task_idx| subject.definition(*task_idx).task.name.to_owned()).collect();
        if names.len() > 2 * SHOWN_MAX {
            let n_left_out = names.len() - 2 * SHOWN_MAX;
            names.splice(SHOWN_MAX..SHOWN_MAX + n_left_out, [format!("… {n_left_out} more …")]);
        }
        names.join(" → ")
    }
}

fn certain_cycles<'a>(subject: &Subject<'_, 'a>, world: &World<'a>, names: &mut Names<'a>) -> Vec<Cycle> {
    let graph = world.edges(subject, names);
    let mut cycles: Vec<Cycle> = Vec::new();
    for knot in graph.knots() {
        let instances: Vec<(u32, u32)> =
            graph.shortest_cycle(&knot).into_iter().filter_map(|vertex| world.instance(vertex)).collect();
        let places: BTreeSet<String> =
            instances.iter().filter_map(|(_, node)| world.node_words(*node)).collect();
        let place = if places.len() == 1 { places.into_iter().next() } else { None };
        let cycle = Cycle::new(instances.into_iter().map(|(task_idx, _)| task_idx).collect(), place);
        // The same circle on nodes with another role is the same mistake.
        if !cycles.iter().any(|known| known.members == cycle.members) {
            cycles.push(cycle);
        }
    }
    cycles.sort_by(|a, b| a.tasks.cmp(&b.tasks));
    cycles
}

fn certain_finding(cycle: &Cycle, subject: &Subject<'_, '_>) -> Finding {
    let place = cycle.place.as_ref().map(|place| format!(", {place}")).unwrap_or_default();
    let message = format!("tasks wait for each other: {}{place}", cycle.words(subject));
    Finding::error(codes::CYCLE, message)
        .help("each arrow leads from what runs before to what runs after: remove one".to_owned())
}

/// Relations of tasks to their own names.
fn check_own_names<'a>(
    subject: &Subject<'_, 'a>,
    world: &World<'a>,
    names: &mut Names<'a>,
    findings: &mut Vec<Finding>,
) {
    for (task_idx, definition) in (0_u32..).zip(&subject.definitions) {
        for link in definition.links.iter().filter(|link| link.is_cross()) {
            if names.meaning(link.name).tasks().binary_search(&task_idx).is_err() {
                continue;
            }
            if let Some(place) = world.own_crowds(task_idx, link, &mut names.effort).first() {
                let message = format!(
                    "`{}` also means this task on other nodes: two nodes with `{place}` would wait for each other",
                    link.name
                );
                let help = "name other tasks only, or say `role: self`".to_owned();
                findings.push(
                    Finding::warning(codes::CYCLE, message).at(definition.task.name, link.path()).help(help),
                );
            }
        }
    }
}

/// Cycles over definitions that are not known to be certain.
fn check_possible<'a>(
    subject: &Subject<'_, 'a>,
    names: &mut Names<'a>,
    tangled: &[BTreeSet<u32>],
    findings: &mut Vec<Finding>,
) {
    let is_cross_of = definition_edges(subject, names);
    let graph = Csr::new(subject.definitions.len(), is_cross_of.keys().copied().collect());
    for knot in graph.knots() {
        let is_told =
            |members: &BTreeSet<u32>| members.iter().all(|member| knot.binary_search(member).is_ok());
        if tangled.iter().any(is_told) {
            continue;
        }
        let cycle = Cycle::new(graph.shortest_cycle(&knot), None);
        if can_happen(&cycle, &is_cross_of, subject) {
            let message = format!("tasks may wait for each other: {}", cycle.words(subject));
            let help =
                "it depends on which roles are together on a node; remove one of the dependencies to be sure";
            findings.push(Finding::warning(codes::CYCLE, message).help(help.to_owned()));
        }
    }
}

/// Edges between definitions from before to after, and whether they lead across nodes.
pub(super) fn definition_edges<'a>(
    subject: &Subject<'_, 'a>,
    names: &mut Names<'a>,
) -> HashMap<(u32, u32), bool> {
    let mut is_cross_of = HashMap::new();
    for (task_idx, definition) in (0_u32..).zip(&subject.definitions) {
        for link in definition.links.iter().filter(|_| !definition.is_group()) {
            let meaning = names.meaning(link.name);
            if !names.effort.spend(meaning.tasks().len() as u64) {
                continue;
            }
            for other_idx in meaning.tasks().iter().filter(|other| **other != task_idx) {
                let other = subject.definition(*other_idx);
                if other.is_group()
                    || !names.effort.spend(1)
                    || !reaches(link, definition.is_stage(), other.is_stage())
                {
                    continue;
                }
                let edge = if link.is_backward() { (*other_idx, task_idx) } else { (task_idx, *other_idx) };
                *is_cross_of.entry(edge).or_insert(false) |= is_across(link);
            }
        }
    }
    is_cross_of
}

/// Whether a dependency can have any effect, by the rules for stages.
fn reaches(link: &Link<'_>, is_from_stage: bool, is_to_stage: bool) -> bool {
    match (link.place, link.is_cross()) {
        (Place::Own, false) => is_to_stage || !is_from_stage,
        (Place::Own, true) => is_from_stage == is_to_stage,
        (Place::Sync, _) => is_to_stage,
        _ => !is_to_stage,
    }
}

fn is_across(link: &Link<'_>) -> bool {
    !matches!(link.place, Place::Own | Place::Sync)
}

/// Whether each run of tasks that must be on one node can be on one.
fn can_happen(cycle: &Cycle, is_cross_of: &HashMap<(u32, u32), bool>, subject: &Subject<'_, '_>) -> bool {
    let mut runs: Vec<Vec<Spots<'_>>> = vec![Vec::new()];
    let n_tasks = cycle.tasks.len();
    let breaks_after = |at: usize| {
        let (task, next) = (cycle.tasks[at], cycle.tasks[(at + 1) % n_tasks]);
        is_cross_of.get(&(task, next)).copied().unwrap_or(false)
            || subject.definition(task).is_stage()
            || subject.definition(next).is_stage()
    };
    // Begin after a break, if there is one, so that no run is cut in two.
    let first = (0..n_tasks).find(|at| breaks_after(*at)).map_or(0, |at| at + 1);
    for at in (first..first + n_tasks).map(|at| at % n_tasks) {
        let task_idx = cycle.tasks[at];
        if !subject.definition(task_idx).is_stage() {
            let last = runs.len() - 1;
            runs[last].push(subject.spots_of(task_idx));
        }
        if breaks_after(at) {
            runs.push(Vec::new());
        }
    }
    let is_somewhere = |spots: &Spots<'_>| !spots.is_empty() || subject.scope == Scope::Layer;
    let meet = |a: &Spots<'_>, b: &Spots<'_>| a.is_empty() || b.is_empty() || a.can_meet(b);
    runs.iter().all(|run| {
        run.iter().all(is_somewhere)
            && run.iter().enumerate().all(|(at, spots)| run[..at].iter().all(|other| meet(spots, other)))
    })
}
