//! The real graph on the real cluster, executed with given durations.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use stoker_engine::blueprint::{Blueprint, ExecutionOptions};
use stoker_engine::run::{Input, InstanceState, Phase, RunEffect, RunMachine, RunOutcome, step};
use stoker_engine::session::ResultKind;
use stoker_model::{InstanceIdx, Micros, RunId, TaskIdx, TaskReport};
use stoker_orchestrator::runs::blueprint_of_plan;
use stoker_planner::{InstanceAction, Plan};
use stoker_tasks::default_timing;

use crate::real_plan::first_run;

fn blueprint(plan: &Plan, durations: &[Option<u32>], nodes_at_once: u32) -> Blueprint {
    let options = ExecutionOptions { max_concurrent_nodes: nodes_at_once, ..ExecutionOptions::default() };
    blueprint_of_plan(plan, options, durations, default_timing).expect("no defects")
}

/// Returns the makespan in milliseconds if each instance takes the given duration.
fn makespan(blueprint: &Blueprint, duration: impl Fn(InstanceIdx) -> u32) -> u64 {
    let mut run = RunMachine::new(RunId(1), blueprint);
    let mut now = Micros(0);
    let mut ends: BinaryHeap<Reverse<(i64, InstanceIdx)>> = BinaryHeap::new();
    let mut input = Input::Begin;
    loop {
        let result = step(&mut run, blueprint, input, now).expect("a legal input");
        for effect in result.effects {
            if let RunEffect::Dispatch(key) = effect {
                ends.push(Reverse((now.0 + i64::from(duration(key.instance)) * 1000, key.instance)));
            }
        }
        let Some(Reverse((at, instance))) = ends.pop() else { break };
        now = Micros(at);
        let key = run.in_flight().map(|flight| flight.key).find(|key| key.instance == instance);
        let key = key.expect("it is in flight");
        input = Input::AttemptFinished {
            key,
            at: now,
            end: ResultKind::Succeeded,
            report: TaskReport::default(),
        };
    }
    assert_eq!(*run.phase(), Phase::Ended(RunOutcome::Succeeded));
    (now.0 / 1000) as u64
}

/// Returns the duration of each executed instance: depends mostly on the task and a little on the node.
fn durations(plan: &Plan, seed: u32) -> Vec<Option<u32>> {
    let hash = |text: &str| {
        text.bytes().fold(seed.wrapping_mul(2_654_435_769) ^ 0x811c_9dc5, |hash, byte| {
            (hash ^ u32::from(byte)).wrapping_mul(16_777_619)
        })
    };
    let lasts = |instance: stoker_planner::Instance<'_>| {
        // From a second to a minute, within every timeout; most are short, as real tasks are.
        let scale = hash(instance.task) >> 8;
        let seconds = 1 + (u64::from(scale % 1000).pow(3) / 20_000_000) as u32;
        let on_node = 90 + (hash(&instance.to_string()) >> 8) % 20;
        (instance.verdict.action() == InstanceAction::Run).then_some(seconds * 10 * on_node)
    };
    plan.instances().map(lasts).collect()
}

/// Returns the lower bound of the makespan: the critical path and the work of the busiest node.
fn lower_bound(plan: &Plan, durations: &[Option<u32>]) -> u64 {
    let n_instances = plan.n_instances();
    let lasts = |vertex: u32| durations.get(vertex as usize).copied().flatten().map_or(0, u64::from);
    let order = plan.order().topological_order().expect("no cycle");
    let mut longest = vec![0; plan.order().n_vertices()];
    for vertex in order.into_iter().rev() {
        let after = plan.order().targets(vertex).iter().map(|target| longest[*target as usize]).max();
        longest[vertex as usize] = lasts(vertex) + after.unwrap_or(0);
    }
    let chain = longest.iter().take(n_instances).copied().max().unwrap_or(0);
    let mut of_node: BTreeMap<&str, u64> = BTreeMap::new();
    for instance in plan.instances() {
        *of_node.entry(instance.node).or_default() += lasts(instance.idx.get());
    }
    chain.max(of_node.into_values().max().unwrap_or(0))
}

#[test]
fn unit_durations_reach_the_lower_bound() {
    let Some(plan) = first_run() else { return };
    let all_equal: Vec<Option<u32>> =
        plan.instances().map(|it| (it.verdict.action() == InstanceAction::Run).then_some(1)).collect();
    assert_eq!(lower_bound(&plan, &all_equal), 119);
    assert_eq!(makespan(&blueprint(&plan, &[], 50), |_| 1), 119);
}

#[test]
fn three_concurrent_nodes_meet_graham_bound() {
    let Some(plan) = first_run() else { return };
    let executed = plan.instances().filter(|it| it.verdict.action() == InstanceAction::Run).count() as u64;
    // No node idles without reason, so Graham's bound holds: the work divided by three nodes plus the
    // critical path.
    let bound = executed.div_ceil(3) + 119;
    let rounds = makespan(&blueprint(&plan, &[], 3), |_| 1);
    println!("{rounds} rounds with three nodes at once");
    assert!(rounds <= bound, "{rounds} rounds, at most {bound}");
    assert!(rounds < 140, "{rounds} rounds; the predecessor needed 189");
}

#[test]
fn realistic_durations_come_close_to_the_lower_bound() {
    let Some(plan) = first_run() else { return };
    for seed in 0..8 {
        let durations = durations(&plan, seed);
        let bound = lower_bound(&plan, &durations);
        let lasts = makespan(&blueprint(&plan, &durations, 50), |idx| durations[idx.index()].unwrap_or(0));
        println!("seed {seed}: {lasts} ms, bound {bound} ms, ratio {:.3}", lasts as f64 / bound as f64);
        assert!(lasts as f64 <= 1.05 * bound as f64, "{lasts} ms, bound {bound} ms");
    }
}

#[test]
fn real_plan_has_limits_groups_and_executors() {
    let Some(plan) = first_run() else { return };
    let blueprint = blueprint(&plan, &[], 50);
    let limits: Vec<u32> =
        TaskIdx::first(plan.tasks.len()).filter_map(|task| blueprint.limit_of(task)).collect();
    let mut sorted = limits.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, [3, 3, 6, 6, 6, 6]);
    let critical: Vec<&str> = blueprint
        .groups()
        .iter()
        .filter(|group| group.tolerated == 0)
        .map(|group| group.name.as_str())
        .collect();
    assert_eq!(critical, ["compute", "primary-controller", "primary-mongo", "zero tolerance"]);
    let mut run = RunMachine::new(RunId(1), &blueprint);
    step(&mut run, &blueprint, Input::Begin, Micros(0)).expect("legal");
    assert!(run.counts().of(InstanceState::Dispatched) > 0);
}
