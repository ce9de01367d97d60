//! A run of a million instances.

use stoker_engine::blueprint::{Blueprint, Draft, DraftInstance, DraftWork, ExecutionOptions, Handlers};
use stoker_engine::run::{Input, Phase, RunEffect, RunMachine, RunOutcome, step};
use stoker_engine::session::ResultKind;
use stoker_graph::Csr;
use stoker_model::{Micros, NodeIdx, RunId, TaskIdx, TaskReport};

use crate::small::POLICY;

/// Returns a hundred tasks on each of many nodes in a chain, with a stage in the middle; nine of ten are
/// skipped.
pub(crate) fn large(n_nodes: u32) -> Draft {
    const N_TASKS: u32 = 100;
    let idx = |task: u32, node: u32| task * n_nodes + node;
    let stage = N_TASKS * n_nodes;
    let mut instances = Vec::new();
    let mut edges = Vec::new();
    for task in 0..N_TASKS {
        for node in 0..n_nodes {
            let work =
                DraftWork { executor: NodeIdx::new(node), policy: POLICY, limit: (task == 7).then_some(50) };
            instances.push(DraftInstance {
                task: TaskIdx::new(task),
                node: NodeIdx::new(node),
                work: (task % 10 == 7).then_some(work),
            });
            if task + 1 == N_TASKS / 2 {
                edges.push((idx(task, node), stage));
                edges.push((stage, idx(task + 1, node)));
            } else if task + 1 < N_TASKS {
                edges.push((idx(task, node), idx(task + 1, node)));
            }
        }
    }
    instances.push(DraftInstance { task: TaskIdx::new(N_TASKS), node: NodeIdx::new(n_nodes), work: None });
    Draft {
        nodes: (0..n_nodes).map(|node| node.to_string()).chain(["sync".to_owned()]).collect(),
        sync: Some(NodeIdx::new(n_nodes)),
        tasks: (0..=N_TASKS).map(|task| format!("t{task}")).collect(),
        order: Csr::new(instances.len(), edges),
        instances,
        groups: Vec::new(),
        handlers: Handlers::default(),
        durations: Vec::new(),
        options: ExecutionOptions { max_concurrent_nodes: 1000, ..ExecutionOptions::default() },
    }
}

#[test]
fn million_instances_run_without_recursion_or_scans() {
    let blueprint = Blueprint::new(large(10_000)).expect("valid");
    assert_eq!(blueprint.n_instances(), 1_000_001);
    let mut run = RunMachine::new(RunId(1), &blueprint);
    let mut sent = std::collections::VecDeque::new();
    let mut input = Input::Begin;
    let mut n_done = 0;
    loop {
        let result = step(&mut run, &blueprint, input, Micros(0)).expect("legal");
        let keys = result.effects.into_iter().filter_map(|effect| match effect {
            RunEffect::Dispatch(key) => Some(key),
            _ => None,
        });
        sent.extend(keys);
        let Some(key) = sent.pop_front() else { break };
        n_done += 1;
        input = Input::AttemptFinished {
            key,
            at: Micros(0),
            end: ResultKind::Succeeded,
            report: TaskReport::default(),
        };
    }
    assert_eq!((run.phase(), n_done), (&Phase::Ended(RunOutcome::Succeeded), 100_000));
}

#[test]
fn p22_long_chains_and_cycles_need_no_recursion() {
    const N: u32 = 200_000;
    let instance = |idx: u32| DraftInstance {
        task: TaskIdx::new(0),
        node: NodeIdx::new(0),
        work: (idx + 1 == N).then_some(DraftWork { executor: NodeIdx::new(0), policy: POLICY, limit: None }),
    };
    let chain: Vec<(u32, u32)> = (1..N).map(|idx| (idx - 1, idx)).collect();
    let mut draft = Draft {
        nodes: vec!["1".to_owned()],
        sync: None,
        tasks: vec!["a".to_owned()],
        instances: (0..N).map(instance).collect(),
        order: Csr::new(N as usize, chain.clone()),
        groups: Vec::new(),
        handlers: Handlers::default(),
        durations: Vec::new(),
        options: ExecutionOptions::default(),
    };
    let blueprint = Blueprint::new(draft.clone()).expect("valid");
    let mut run = RunMachine::new(RunId(1), &blueprint);
    let first_step = step(&mut run, &blueprint, Input::Begin, Micros(0)).expect("legal");
    assert_eq!(first_step.events.len(), 3, "began, resolved all but one, dispatched one");
    draft.order = Csr::new(N as usize, chain.into_iter().chain([(N - 1, 0)]).collect());
    assert_eq!(Blueprint::new(draft).expect_err("a cycle").len(), 1);
}
