//! Dependency cycles between tasks.
//!
//! * An error is a cycle that exists as soon as nodes with the named roles exist. It is found in a synthetic
//!   cluster with one node per role ([`super::instances`]). Relations across nodes count as much as those on
//!   one node.
//! * A warning is a cycle over definitions that occurs only under further conditions: one node with several
//!   roles, the choice of `policy: any`, or computed placement. Tasks that can never share a node (`x` and
//!   `primary-x`, the master and other nodes) form no such cycle.
//! * A warning is also a relation of a task to its own name. It excludes only the instance itself, so that
//!   instances on two nodes depend on each other.
//!
//! Groups never run and form no cycle. One cycle is reported per strongly connected component; cycles that
//! remain after it is broken are reported by the next check.

use std::collections::{BTreeSet, HashMap};

use stoker_diagnostics::Diagnostic;
use stoker_model::TaskIdx;

use super::instances::{SyntheticCluster, SyntheticInstance};
use super::links::{Link, TargetNodes};
use super::names::Names;
use super::placement::Placement;
use super::{Scope, Subject};
use crate::codes;
use crate::csr::Csr;

pub(super) fn check<'a>(subject: &Subject<'_, 'a>, names: &mut Names<'a>, findings: &mut Vec<Diagnostic>) {
    let cluster = SyntheticCluster::new(subject, &mut names.budget);
    check_own_names(subject, &cluster, names, findings);
    let certain = certain_cycles(subject, &cluster, names);
    findings.extend(certain.iter().map(|cycle| certain_finding(cycle, subject)));
    let certain_members: Vec<BTreeSet<TaskIdx>> = certain.into_iter().map(|cycle| cycle.members).collect();
    check_possible(subject, names, &certain_members, findings);
}

/// Maximum number of tasks listed at each end of a long cycle.
const LISTED_MAX: usize = 10;

struct Cycle {
    /// Tasks in execution order, starting with the smallest index; the first is not repeated at the end.
    tasks: Vec<TaskIdx>,
    members: BTreeSet<TaskIdx>,
    /// The node on which the cycle occurs, if all its instances are on one node.
    location: Option<String>,
}

impl Cycle {
    fn new(mut tasks: Vec<TaskIdx>, location: Option<String>) -> Self {
        tasks.dedup();
        if tasks.len() > 1 && tasks.first() == tasks.last() {
            tasks.pop();
        }
        let start = (0..tasks.len()).min_by_key(|at| tasks[*at]).unwrap_or_default();
        tasks.rotate_left(start);
        let members = tasks.iter().copied().collect();
        Self { tasks, members, location }
    }

    /// Renders the cycle as `a → b → a`; a long path is shortened in the middle.
    fn describe(&self, subject: &Subject<'_, '_>) -> String {
        let closed = self.tasks.iter().chain(self.tasks.first());
        let mut names: Vec<String> =
            closed.map(|task_idx| subject.definition(*task_idx).task.name.to_owned()).collect();
        if names.len() > 2 * LISTED_MAX {
            let n_omitted = names.len() - 2 * LISTED_MAX;
            names.splice(LISTED_MAX..LISTED_MAX + n_omitted, [format!("… {n_omitted} more …")]);
        }
        names.join(" → ")
    }
}

fn certain_cycles<'a>(
    subject: &Subject<'_, 'a>,
    cluster: &SyntheticCluster<'a>,
    names: &mut Names<'a>,
) -> Vec<Cycle> {
    let graph = cluster.edges(subject, names);
    let mut cycles: Vec<Cycle> = Vec::new();
    for component in graph.cyclic_components() {
        let instances: Vec<SyntheticInstance> = graph
            .shortest_cycle(&component)
            .into_iter()
            .filter_map(|vertex| cluster.instance(vertex))
            .collect();
        let locations: BTreeSet<String> =
            instances.iter().filter_map(|instance| cluster.describe_node(instance.node)).collect();
        let location = if locations.len() == 1 { locations.into_iter().next() } else { None };
        let cycle = Cycle::new(instances.into_iter().map(|instance| instance.task).collect(), location);
        // The same cycle on nodes with another role is the same mistake.
        if !cycles.iter().any(|earlier| earlier.members == cycle.members) {
            cycles.push(cycle);
        }
    }
    cycles.sort_by(|a, b| a.tasks.cmp(&b.tasks));
    cycles
}

fn certain_finding(cycle: &Cycle, subject: &Subject<'_, '_>) -> Diagnostic {
    let location = cycle.location.as_ref().map(|location| format!(", {location}")).unwrap_or_default();
    let message = format!("dependency cycle: {}{location}", cycle.describe(subject));
    Diagnostic::error(codes::CYCLE, message).help("remove one of these dependencies")
}

/// Reports relations of tasks to their own names.
fn check_own_names<'a>(
    subject: &Subject<'_, 'a>,
    cluster: &SyntheticCluster<'a>,
    names: &mut Names<'a>,
    findings: &mut Vec<Diagnostic>,
) {
    for (task_idx, definition) in subject.tasks() {
        for link in definition.links.iter().filter(|link| link.is_cross()) {
            if names.resolve(link.name).tasks().binary_search(&task_idx).is_err() {
                continue;
            }
            if let Some(location) = cluster.shared_own_roles(task_idx, link, &mut names.budget).first() {
                let message = format!(
                    "`{}` also matches this task on other nodes: instances on two nodes with `{location}` would depend on each other",
                    link.name
                );
                let help = "match other tasks only, or set `role: self`".to_owned();
                findings.push(
                    Diagnostic::warning(codes::CYCLE, message)
                        .task(definition.task.name, link.path())
                        .help(help),
                );
            }
        }
    }
}

/// Reports possible cycles between task definitions as warnings, except those already reported as errors.
fn check_possible<'a>(
    subject: &Subject<'_, 'a>,
    names: &mut Names<'a>,
    certain_members: &[BTreeSet<TaskIdx>],
    findings: &mut Vec<Diagnostic>,
) {
    let is_cross_of = definition_edges(subject, names);
    let graph = Csr::new(subject.definitions.len(), is_cross_of.keys().copied().collect());
    for component in graph.cyclic_components() {
        let is_reported = |members: &BTreeSet<TaskIdx>| {
            members.iter().all(|member| component.binary_search(member).is_ok())
        };
        if certain_members.iter().any(is_reported) {
            continue;
        }
        let cycle = Cycle::new(graph.shortest_cycle(&component), None);
        if can_happen(&cycle, &is_cross_of, subject) {
            let message = format!("possible dependency cycle: {}", cycle.describe(subject));
            let help = "it occurs if a node has several of these roles; remove one of these dependencies";
            findings.push(Diagnostic::warning(codes::CYCLE, message).help(help));
        }
    }
}

/// Returns the edges between definitions in execution order, with whether they lead across nodes.
pub(super) fn definition_edges<'a>(
    subject: &Subject<'_, 'a>,
    names: &mut Names<'a>,
) -> HashMap<(TaskIdx, TaskIdx), bool> {
    let mut is_cross_of = HashMap::new();
    for (task_idx, definition) in subject.tasks() {
        for link in definition.links.iter().filter(|_| !definition.is_group()) {
            let resolution = names.resolve(link.name);
            if !names.budget.spend(resolution.tasks().len() as u64) {
                continue;
            }
            for other_idx in resolution.tasks().iter().filter(|other| **other != task_idx) {
                let other = subject.definition(*other_idx);
                if other.is_group()
                    || !names.budget.spend(1)
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

/// Reports whether a dependency can have any effect, by the rules for stages.
fn reaches(link: &Link<'_>, is_from_stage: bool, is_to_stage: bool) -> bool {
    match (link.target, link.is_cross()) {
        (TargetNodes::Own, false) => is_to_stage || !is_from_stage,
        (TargetNodes::Own, true) => is_from_stage == is_to_stage,
        (TargetNodes::Sync, _) => is_to_stage,
        _ => !is_to_stage,
    }
}

fn is_across(link: &Link<'_>) -> bool {
    !matches!(link.target, TargetNodes::Own | TargetNodes::Sync)
}

/// Reports whether the tasks of each segment of the cycle that must share a node can share one.
fn can_happen(
    cycle: &Cycle,
    is_cross_of: &HashMap<(TaskIdx, TaskIdx), bool>,
    subject: &Subject<'_, '_>,
) -> bool {
    let mut segments: Vec<Vec<Placement<'_>>> = vec![Vec::new()];
    let n_tasks = cycle.tasks.len();
    let is_boundary_after = |at: usize| {
        let (task, next) = (cycle.tasks[at], cycle.tasks[(at + 1) % n_tasks]);
        is_cross_of.get(&(task, next)).copied().unwrap_or(false)
            || subject.definition(task).is_stage()
            || subject.definition(next).is_stage()
    };
    // Start after a segment boundary, if there is one, so that no segment is split.
    let first = (0..n_tasks).find(|at| is_boundary_after(*at)).map_or(0, |at| at + 1);
    for at in (first..first + n_tasks).map(|at| at % n_tasks) {
        let task_idx = cycle.tasks[at];
        if !subject.definition(task_idx).is_stage() {
            let last = segments.len() - 1;
            segments[last].push(subject.placement_of(task_idx));
        }
        if is_boundary_after(at) {
            segments.push(Vec::new());
        }
    }
    let is_placed = |placement: &Placement<'_>| !placement.is_empty() || subject.scope == Scope::Layer;
    let can_share_node =
        |a: &Placement<'_>, b: &Placement<'_>| a.is_empty() || b.is_empty() || a.can_share_node(b);
    segments.iter().all(|segment| {
        segment.iter().all(is_placed)
            && segment
                .iter()
                .enumerate()
                .all(|(at, placement)| segment[..at].iter().all(|other| can_share_node(placement, other)))
    })
}
