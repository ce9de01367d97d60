//! Small random blueprints: few nodes, every feature.

use stoker_engine::blueprint::{AtStages, Draft, DraftInstance, Group, OnFailure, Options, Policy, Work};
use stoker_engine::session::Mode;
use stoker_graph::Csr;

use crate::dice::Dice;

/// A draft that is right, with stages, limits, groups, joins and tasks of the master.
pub fn random_draft(dice: &mut Dice) -> Draft {
    let n_nodes = dice.between(1, 5) as u32;
    let (master, sync) = (n_nodes, n_nodes + 1);
    let mut nodes: Vec<String> = (1..=n_nodes).map(|uid| uid.to_string()).collect();
    nodes.extend(["master".to_owned(), "sync".to_owned()]);
    let n_tasks = dice.between(1, 7) as u32;
    let mut instances = Vec::new();
    for task in 0..n_tasks {
        if dice.one_in(5) {
            instances.push(DraftInstance { task, node: sync, work: None });
            continue;
        }
        let is_on_master = dice.one_in(5);
        let limit = dice.one_in(4).then(|| dice.between(1, 2) as u32);
        for node in 0..n_nodes {
            if dice.one_in(4) {
                continue;
            }
            let executor = if is_on_master { master } else { node };
            let work = Work { executor, policy: policy(dice), limit };
            instances.push(DraftInstance { task, node, work: (!dice.one_in(5)).then_some(work) });
        }
        if dice.one_in(8) {
            let work = Work { executor: master, policy: policy(dice), limit };
            instances.push(DraftInstance { task, node: master, work: Some(work) });
        }
    }
    let order = order(&instances, dice);
    Draft {
        sync: Some(sync),
        tasks: (0..n_tasks).map(|task| format!("t{task}")).collect(),
        groups: groups(n_nodes, dice),
        durations: Vec::new(),
        options: options(dice),
        instances,
        order,
        nodes,
    }
}

fn policy(dice: &mut Dice) -> Policy {
    Policy {
        timeout_ms: dice.between(5, 60) * 1000,
        n_retries: dice.below(3) as u32,
        interval_ms: dice.between(0, 3) * 1000,
        fail_on_error: !dice.one_in(4),
        retry_interrupted: dice.one_in(2),
    }
}

/// Edges lead from earlier to later instances, so there is no cycle; some meet in a vertex of their own.
fn order(instances: &[DraftInstance], dice: &mut Dice) -> Csr {
    let n = instances.len() as u64;
    let mut edges = Vec::new();
    let mut n_vertices = n as u32;
    for _ in 0..dice.below(2 * n + 1) {
        let (a, b) = (dice.below(n) as u32, dice.below(n) as u32);
        if a != b {
            edges.push((a.min(b), a.max(b)));
        }
    }
    if n > 3 && dice.one_in(2) {
        let middle = dice.between(1, n - 1) as u32;
        for from in 0..middle {
            if dice.one_in(2) {
                edges.push((from, n_vertices));
            }
        }
        for to in middle..n as u32 {
            if dice.one_in(2) {
                edges.push((n_vertices, to));
            }
        }
        n_vertices += 1;
    }
    Csr::new(n_vertices as usize, edges)
}

fn groups(n_nodes: u32, dice: &mut Dice) -> Vec<Group> {
    let group = |idx: u64, dice: &mut Dice| {
        let nodes = (0..n_nodes).filter(|_| !dice.one_in(4)).collect();
        Group { name: format!("g{idx}"), nodes, tolerated: dice.below(3) }
    };
    let n_groups = dice.below(3);
    let mut groups: Vec<Group> = (0..n_groups).map(|idx| group(idx, dice)).collect();
    if !dice.one_in(3) {
        groups.push(Group { name: "all".to_owned(), nodes: (0..=n_nodes).collect(), tolerated: 9 });
    }
    groups
}

fn options(dice: &mut Dice) -> Options {
    Options {
        nodes_at_once: dice.between(1, 4) as u32,
        on_failure: if dice.one_in(2) { OnFailure::NodeStops } else { OnFailure::NodeContinues },
        at_stages: if dice.one_in(3) { AtStages::Hold } else { AtStages::Pass },
        fault_tolerance: None,
        mode: Mode::Normal,
        debug: false,
        lost_after_ms: dice.between(20, 120) * 1000,
        grace_ms: dice.between(5, 30) * 1000,
        retry_interrupted: None,
        backoff_max_ms: 10_000,
    }
}
