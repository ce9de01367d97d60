//! Properties that hold for every graph and every sequence of inputs.

use proptest::prelude::*;
use stoker_engine::blueprint::{
    Blueprint, Draft, DraftInstance, DraftWork, ExecutionOptions, FailurePolicy, Group, Handlers, Policy,
    StagePolicy,
};
use stoker_engine::run::{
    EngineEvent, Input, InstanceState, Phase, RunMachine, RunOutcome, StepResult, StopMode, step,
};
use stoker_engine::session::{AttemptKey, ResultKind};
use stoker_graph::Csr;
use stoker_model::{GroupIdx, InstanceIdx, Micros, NodeIdx, RunId, TaskIdx, TaskReport};

const RUN: RunId = RunId(1);

fn policy() -> impl Strategy<Value = Policy> {
    (0..3_u32, 0..2000_u64, any::<bool>(), any::<bool>()).prop_map(
        |(n_retries, interval_ms, fail_on_error, retry_interrupted)| Policy {
            timeout_ms: 10_000,
            n_retries,
            interval_ms,
            fail_on_error,
            retry_interrupted,
        },
    )
}

fn options() -> impl Strategy<Value = ExecutionOptions> {
    (1..4_u32, any::<bool>(), any::<bool>()).prop_map(|(nodes_at_once, stops, passes)| ExecutionOptions {
        max_concurrent_nodes: nodes_at_once,
        on_failure: if stops { FailurePolicy::NodeStops } else { FailurePolicy::NodeContinues },
        at_stages: if passes { StagePolicy::Pass } else { StagePolicy::Hold },
        ..ExecutionOptions::default()
    })
}

/// Generates drafts with four nodes; the last is the sync node.
fn draft() -> impl Strategy<Value = Draft> {
    let work = (0..3_u32, policy(), proptest::option::of(1..3_u32));
    let work = work.prop_map(|(executor, policy, limit)| DraftWork {
        executor: NodeIdx::new(executor),
        policy,
        limit,
    });
    let instance = (0..4_u32, 0..4_u32, proptest::option::weighted(0.8, work));
    let instance = instance.prop_map(|(task, node, work)| DraftInstance {
        task: TaskIdx::new(task),
        node: NodeIdx::new(node),
        work: work.filter(|_| node != 3),
    });
    let instances = proptest::collection::vec(instance, 0..14);
    let edges = proptest::collection::vec((0..16_u32, 0..16_u32), 0..24);
    let group = (proptest::collection::btree_set(0..3_u32, 0..4), 0..3_u64);
    let groups = proptest::collection::vec(group, 0..3);
    (instances, edges, groups, options()).prop_map(|(instances, edges, groups, options)| {
        let n_vertices = instances.len() as u32 + 2;
        let edges = edges.into_iter().map(|(a, b)| (a % n_vertices, b % n_vertices));
        let edges = edges.filter(|(a, b)| a != b).map(|(a, b)| (a.min(b), a.max(b))).collect();
        let group = |(nodes, tolerated): (std::collections::BTreeSet<u32>, u64)| Group {
            name: "group".to_owned(),
            nodes: nodes.into_iter().map(NodeIdx::new).collect(),
            tolerated,
        };
        Draft {
            nodes: ["1", "2", "3", "sync"].map(str::to_owned).to_vec(),
            sync: Some(NodeIdx::new(3)),
            tasks: ["a", "b", "c", "d"].map(str::to_owned).to_vec(),
            order: Csr::new(n_vertices as usize, edges),
            instances,
            groups: groups.into_iter().map(group).collect(),
            handlers: Handlers::default(),
            durations: Vec::new(),
            options,
        }
    })
}

/// A random input: kind, subject, variant, delay since the previous one.
type Move = (u8, u32, u32, u16);

fn input(run: &RunMachine, (what, which, other, _): Move, now: Micros) -> Input {
    let flights: Vec<AttemptKey> = run.in_flight().map(|flight| flight.key).collect();
    let chosen = flights.get(which as usize % flights.len().max(1)).copied();
    let any_key = AttemptKey { run: RUN, instance: InstanceIdx::new(which), attempt: other % 4 };
    let key = chosen.filter(|_| what % 8 != 7).unwrap_or(any_key);
    let end = match other % 7 {
        0 => ResultKind::Failed { message: "no".to_owned() },
        1 => ResultKind::TimedOut,
        2 => ResultKind::Interrupted,
        3 => ResultKind::Cancelled,
        4 => ResultKind::Refused { message: "full".to_owned() },
        _ => ResultKind::Succeeded,
    };
    match what % 16 {
        0 => Input::NodeLost { node: NodeIdx::new(which % 5) },
        1 => Input::NodeBack { node: NodeIdx::new(which % 5) },
        2 if which % 8 == 0 => Input::Stop { how: StopMode::Graceful },
        3 if which % 8 == 0 => Input::Stop { how: StopMode::Now },
        4 if which % 2 == 0 => Input::Pause,
        4 | 5 => Input::Resume,
        6 => Input::Wake,
        7 => Input::TakeOver,
        8 => Input::AttemptStarted { key, at: now },
        9 if which % 8 == 0 => Input::Begin,
        _ => Input::AttemptFinished { key, at: now, end, report: TaskReport::default() },
    }
}

/// Applies random inputs and checks the invariants after each.
fn play(blueprint: &Blueprint, moves: &[Move]) -> (RunMachine, Vec<EngineEvent>, Micros) {
    let mut run = RunMachine::new(RUN, blueprint);
    let (mut now, mut events) = (Micros(0), Vec::new());
    let mut ended: Vec<InstanceState> = Vec::new();
    for (at, next_move) in std::iter::once(None).chain(moves.iter().copied().map(Some)).enumerate() {
        let next_input = next_move.map_or(Input::Begin, |input_move| input(&run, input_move, now));
        now = Micros(now.0 + i64::from(next_move.map_or(0, |input_move| input_move.3)) * 100_000);
        let before = run.clone();
        match step(&mut run, blueprint, next_input, now) {
            Ok(StepResult { events: new, .. }) => events.extend(new),
            Err(_) => assert_eq!(run, before, "a rejected input changes nothing (move {at})"),
        }
        let states: Vec<InstanceState> =
            InstanceIdx::first(blueprint.n_instances()).filter_map(|idx| run.state(idx)).collect();
        for (before, after) in ended.iter().zip(&states) {
            assert!(
                !before.is_final() || before == after,
                "a final state changed from {before:?} to {after:?}"
            );
        }
        ended = states;
    }
    (run, events, now)
}

/// Completes the run without further faults; it must end.
fn finish(blueprint: &Blueprint, run: &mut RunMachine, events: &mut Vec<EngineEvent>, mut now: Micros) {
    for _ in 0..1000 {
        if run.has_ended() {
            return;
        }
        let flight = run.in_flight().next();
        let next_input = if let Some(flight) = flight {
            let end = if flight.cancel.is_some() { ResultKind::Cancelled } else { ResultKind::Succeeded };
            Input::AttemptFinished { key: flight.key, at: now, end, report: TaskReport::default() }
        } else {
            now = run.next_timer().map_or(now, |at| at.max(now));
            Input::Wake
        };
        if let Ok(StepResult { events: new, .. }) = step(run, blueprint, Input::Resume, now) {
            events.extend(new);
        }
        if let Ok(StepResult { events: new, .. }) = step(run, blueprint, next_input, now) {
            events.extend(new);
        }
    }
    panic!("the run does not end: {:?} {:?}", run.phase(), run.counts());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn run_is_the_fold_of_its_events_and_terminates(
        draft in draft(),
        moves in proptest::collection::vec(any::<Move>(), 0..60),
    ) {
        let blueprint = Blueprint::new(draft).expect("a valid draft");
        let (mut run, mut events, now) = play(&blueprint, &moves);
        prop_assert_eq!(Ok(run.clone()), RunMachine::restore(RUN, &blueprint, &events));
        finish(&blueprint, &mut run, &mut events, now);
        prop_assert_eq!(Ok(run.clone()), RunMachine::restore(RUN, &blueprint, &events));
        prop_assert!(InstanceIdx::first(blueprint.n_instances()).all(|idx| run.state(idx).is_some_and(InstanceState::is_final)));
        prop_assert_eq!(run.progress(), 100);
        let is_over = |(group, tolerated): (GroupIdx, u64)| run.failed_nodes(group).len() as u64 > tolerated;
        let groups = GroupIdx::first(blueprint.groups().len()).zip(blueprint.groups().iter().map(|group| group.tolerated));
        let over: Vec<GroupIdx> = groups.filter(|it| is_over(*it)).map(|(group, _)| group).collect();
        match run.exceeded_group() {
            Some(group) => prop_assert!(over.contains(&group), "{} is not among {:?}", group, over),
            None => prop_assert!(over.is_empty(), "{:?} are exceeded, and nothing says so", over),
        }
        let is_told = matches!(run.phase(), Phase::Ended(RunOutcome::ToleranceExceeded { .. }));
        prop_assert_eq!(is_told, run.exceeded_group().is_some());
    }

    #[test]
    fn replay_of_invalid_history_never_panics(
        draft in draft(),
        other in self::draft(),
        moves in proptest::collection::vec(any::<Move>(), 0..30),
        holes in proptest::collection::btree_set(0..40_usize, 0..3),
        swapped in (0..40_usize, 0..40_usize),
    ) {
        let blueprint = Blueprint::new(draft).expect("a valid draft");
        let other = Blueprint::new(other).expect("a valid draft");
        let (_, mut events, _) = play(&blueprint, &moves);
        let _ = RunMachine::restore(RUN, &other, &events);
        if let (true, true) = (swapped.0 < events.len(), swapped.1 < events.len()) {
            events.swap(swapped.0, swapped.1);
        }
        let remaining = (0..).zip(&events).filter(|(idx, _)| !holes.contains(idx)).map(|(_, event)| event);
        let _ = RunMachine::restore(RUN, &blueprint, remaining);
    }

    #[test]
    fn stored_events_round_trip(
        draft in draft(),
        moves in proptest::collection::vec(any::<Move>(), 0..40),
    ) {
        let blueprint = Blueprint::new(draft).expect("a valid draft");
        let (_, events, _) = play(&blueprint, &moves);
        for event in events {
            let text = event.to_json().to_string();
            let json = serde_json::from_str(&text).expect("JSON");
            prop_assert_eq!(Ok(event), EngineEvent::from_json(&json), "{}", text);
        }
    }

    #[test]
    fn step_is_deterministic(
        draft in draft(),
        moves in proptest::collection::vec(any::<Move>(), 0..30),
    ) {
        let blueprint = Blueprint::new(draft).expect("a valid draft");
        prop_assert_eq!(play(&blueprint, &moves), play(&blueprint, &moves));
    }

    #[test]
    fn validation_of_random_drafts_never_panics(
        instances in proptest::collection::vec((0..9_u32, 0..9_u32, proptest::option::of(0..9_u32)), 0..6),
        edges in proptest::collection::vec((0..6_u32, 0..6_u32), 0..9),
        sync in proptest::option::of(0..6_u32),
        group in proptest::collection::vec(0..6_u32, 0..4),
    ) {
        let policy = Policy {
            timeout_ms: 0, n_retries: 0, interval_ms: 0, fail_on_error: true, retry_interrupted: false,
        };
        let draft = Draft {
            nodes: vec!["1".to_owned(); 4],
            sync: sync.map(NodeIdx::new),
            tasks: vec!["a".to_owned(); 4],
            instances: instances.into_iter().map(|(task, node, executor)| DraftInstance {
                task: TaskIdx::new(task),
                node: NodeIdx::new(node),
                work: executor.map(|executor| DraftWork { executor: NodeIdx::new(executor), policy, limit: None }),
            }).collect(),
            order: Csr::new(6, edges),
            groups: vec![Group { name: "g".to_owned(), nodes: group.into_iter().map(NodeIdx::new).collect(), tolerated: 0 }],
            handlers: Handlers::default(),
            durations: Vec::new(),
            options: ExecutionOptions::default(),
        };
        if let Err(defects) = Blueprint::new(draft) {
            prop_assert!(!defects.is_empty());
            prop_assert!(defects.iter().all(|defect| !defect.to_string().is_empty()));
        }
    }
}
