//! Small random blueprints that cover every feature.

use std::collections::BTreeSet;

use stoker_engine::blueprint::{
    Draft, DraftInstance, DraftWork, ExecutionOptions, FailurePolicy, Group, Handlers, Policy, StagePolicy,
};
use stoker_engine::session::Mode;
use stoker_graph::Csr;
use stoker_model::{NodeIdx, TaskIdx, VertexIdx};

use crate::rng::Rng;

/// Generates a valid draft with stages, limits, groups, joins and tasks executed by the master.
pub fn random_draft(rng: &mut Rng) -> Draft {
    let n_nodes = rng.between(1, 5) as usize;
    let (master, sync) = (NodeIdx::at(n_nodes), NodeIdx::at(n_nodes + 1));
    let mut nodes: Vec<String> = (1..=n_nodes).map(|uid| uid.to_string()).collect();
    nodes.extend(["master".to_owned(), "sync".to_owned()]);
    let n_tasks = rng.between(1, 7) as usize;
    let mut instances = Vec::new();
    for task in TaskIdx::first(n_tasks) {
        if rng.one_in(5) {
            instances.push(DraftInstance { task, node: sync, work: None });
            continue;
        }
        let is_on_master = rng.one_in(5);
        let limit = rng.one_in(4).then(|| rng.between(1, 2) as u32);
        for node in NodeIdx::first(n_nodes) {
            if rng.one_in(4) {
                continue;
            }
            let executor = if is_on_master { master } else { node };
            let work = DraftWork { executor, policy: policy(rng), limit };
            instances.push(DraftInstance { task, node, work: (!rng.one_in(5)).then_some(work) });
        }
        if rng.one_in(8) {
            let work = DraftWork { executor: master, policy: policy(rng), limit };
            instances.push(DraftInstance { task, node: master, work: Some(work) });
        }
    }
    let order = order(&instances, rng);
    Draft {
        sync: Some(sync),
        tasks: (0..n_tasks).map(|task| format!("t{task}")).collect(),
        groups: groups(n_nodes, rng),
        handlers: handlers(&instances, &order, rng),
        durations: Vec::new(),
        options: options(rng),
        instances,
        order,
        nodes,
    }
}

fn policy(rng: &mut Rng) -> Policy {
    Policy {
        timeout_ms: rng.between(5, 60) * 1000,
        n_retries: rng.below(3) as u32,
        interval_ms: rng.between(0, 3) * 1000,
        fail_on_error: !rng.one_in(4),
        retry_interrupted: rng.one_in(2),
    }
}

/// Generates dependencies. Edges lead from earlier to later instances, so the graph is acyclic; some go
/// through a join vertex.
fn order(instances: &[DraftInstance], rng: &mut Rng) -> Csr {
    let n = instances.len() as u64;
    let mut edges = Vec::new();
    let mut n_vertices = n as u32;
    for _ in 0..rng.below(2 * n + 1) {
        let (a, b) = (rng.below(n) as u32, rng.below(n) as u32);
        if a != b {
            edges.push((a.min(b), a.max(b)));
        }
    }
    if n > 3 && rng.one_in(2) {
        let middle = rng.between(1, n - 1) as u32;
        for from in 0..middle {
            if rng.one_in(2) {
                edges.push((from, n_vertices));
            }
        }
        for to in middle..n as u32 {
            if rng.one_in(2) {
                edges.push((n_vertices, to));
            }
        }
        n_vertices += 1;
    }
    Csr::new(n_vertices as usize, edges)
}

/// Turns some dependencies into triggers, and some of the dependents into handlers.
fn handlers(instances: &[DraftInstance], order: &Csr, rng: &mut Rng) -> Handlers {
    let mut edges = Vec::new();
    for edge in order.edges() {
        if rng.one_in(3) {
            edges.push(edge);
        }
    }
    let mut only_triggered = BTreeSet::new();
    for (_, to) in &edges {
        let instance = VertexIdx::new(*to).instance(instances.len());
        if let Some(idx) = instance.filter(|_| !rng.one_in(4)) {
            only_triggered.insert(idx);
        }
    }
    Handlers { triggers: (!edges.is_empty()).then(|| Csr::new(order.n_vertices(), edges)), only_triggered }
}

fn groups(n_nodes: usize, rng: &mut Rng) -> Vec<Group> {
    let group = |idx: u64, rng: &mut Rng| {
        let nodes = NodeIdx::first(n_nodes).filter(|_| !rng.one_in(4)).collect();
        Group { name: format!("g{idx}"), nodes, tolerated: rng.below(3) }
    };
    let n_groups = rng.below(3);
    let mut groups: Vec<Group> = (0..n_groups).map(|idx| group(idx, rng)).collect();
    if !rng.one_in(3) {
        groups.push(Group {
            name: "all".to_owned(),
            nodes: NodeIdx::first(n_nodes + 1).collect(),
            tolerated: 9,
        });
    }
    groups
}

fn options(rng: &mut Rng) -> ExecutionOptions {
    ExecutionOptions {
        max_concurrent_nodes: rng.between(1, 4) as u32,
        on_failure: if rng.one_in(2) { FailurePolicy::NodeStops } else { FailurePolicy::NodeContinues },
        at_stages: if rng.one_in(3) { StagePolicy::Hold } else { StagePolicy::Pass },
        fault_tolerance: None,
        mode: Mode::Normal,
        debug: false,
        lost_after_ms: rng.between(20, 120) * 1000,
        result_grace_ms: rng.between(5, 30) * 1000,
        retry_interrupted: None,
        backoff_max_ms: 10_000,
    }
}
