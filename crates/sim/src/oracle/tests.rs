//! Invalid histories, each with one defect, and the violations reported for them.

use stoker_engine::blueprint::{
    Blueprint, Draft, DraftInstance, DraftWork, ExecutionOptions, Group, Handlers, Policy,
};
use stoker_engine::run::{
    AttemptOutcome, EngineEvent, EventKind, InstanceOutcome, Next, NodeOutcome, Resolution, RunOutcome,
};
use stoker_engine::session::{AttemptKey, ResultKind};
use stoker_graph::Csr;
use stoker_model::{GroupIdx, InstanceIdx, Micros, NodeIdx, TaskIdx, TaskReport};

use super::Oracle;

/// Returns the tasks `a` and `b` on two nodes, `a` before `b` on each: instances 0 and 1, then 2 and 3; at
/// most one `a` concurrently.
fn draft() -> Draft {
    let policy = Policy {
        timeout_ms: 1000,
        n_retries: 0,
        interval_ms: 0,
        fail_on_error: true,
        retry_interrupted: false,
    };
    let instance = |task: u32, node: u32| {
        let limit = (task == 0).then_some(1);
        let node = NodeIdx::new(node);
        DraftInstance {
            task: TaskIdx::new(task),
            node,
            work: Some(DraftWork { executor: node, policy, limit }),
        }
    };
    Draft {
        nodes: vec!["1".to_owned(), "2".to_owned()],
        sync: None,
        tasks: vec!["a".to_owned(), "b".to_owned()],
        instances: vec![instance(0, 0), instance(0, 1), instance(1, 0), instance(1, 1)],
        order: Csr::new(4, vec![(0, 2), (1, 3)]),
        groups: vec![Group { name: "all".to_owned(), nodes: NodeIdx::first(2).collect(), tolerated: 1 }],
        handlers: Handlers::default(),
        durations: Vec::new(),
        options: ExecutionOptions { max_concurrent_nodes: 2, ..ExecutionOptions::default() },
    }
}

fn key(instance: u32) -> AttemptKey {
    super::key(InstanceIdx::new(instance), 1)
}

fn dispatched(instance: u32) -> EventKind {
    EventKind::Dispatched { instance: InstanceIdx::new(instance), attempt: 1 }
}

fn ended(instance: u32, end: ResultKind, outcome: InstanceOutcome) -> EventKind {
    let (end, next) = (AttemptOutcome::Reported(end), Next::Final(outcome));
    let instance = InstanceIdx::new(instance);
    EventKind::AttemptEnded {
        instance,
        attempt: 1,
        ended_at: Micros(0),
        end,
        report: TaskReport::default(),
        next,
    }
}

fn succeeded(instance: u32) -> EventKind {
    ended(instance, ResultKind::Succeeded, InstanceOutcome::Succeeded)
}

/// Returns the violations reported for a history, if the processes behave accordingly.
fn check_history(kinds: &[EventKind]) -> Vec<String> {
    let mut oracle = Oracle::new(draft());
    for kind in kinds {
        match kind {
            EventKind::Dispatched { instance, .. } => oracle.process_started(key(instance.get()), &[]),
            EventKind::AttemptEnded { instance, end: AttemptOutcome::Reported(end), .. } => {
                oracle.process_ended(key(instance.get()), end);
                oracle.journaled(key(instance.get()), end);
            }
            _ => {}
        }
        oracle.committed(&[EngineEvent { at: Micros(0), kind: kind.clone() }]);
    }
    oracle.settle(&Blueprint::new(draft()).expect("a valid draft"));
    oracle.violations
}

fn valid_history() -> Vec<EventKind> {
    let mut kinds = vec![EventKind::Began];
    for instance in 0..4 {
        kinds.extend([dispatched(instance), succeeded(instance)]);
    }
    kinds.extend(
        (0..2).map(|node| EventKind::NodeEnded { node: NodeIdx::new(node), end: NodeOutcome::Succeeded }),
    );
    kinds.push(EventKind::Ended { end: RunOutcome::Succeeded });
    kinds
}

#[track_caller]
fn check(change: impl FnOnce(&mut Vec<EventKind>), expected: &str) {
    let mut kinds = valid_history();
    change(&mut kinds);
    let violations = check_history(&kinds);
    assert!(
        violations.iter().any(|violation| violation.contains(expected)),
        "{expected:?} in {violations:#?}"
    );
}

#[test]
fn valid_history_has_no_violations() {
    assert_eq!(check_history(&valid_history()), Vec::<String>::new());
}

#[test]
fn invalid_histories_are_detected() {
    check(|kinds| kinds.swap(1, 5), "did not succeed");
    check(|kinds| kinds.swap(2, 3), "too many instances of task 0");
    check(|kinds| kinds.insert(3, dispatched(0)), "dispatched after its end");
    check(|kinds| kinds.insert(2, dispatched(2)), "concurrent tasks on one node");
    check(|kinds| drop(kinds.remove(2)), "instance 0 has not ended");
    check(|kinds| kinds.insert(3, succeeded(0)), "two results of 1/0/1");
    check(|kinds| drop(kinds.remove(9)), "node 0 has not ended");
    check(|kinds| kinds.insert(9, kinds[9].clone()), "node 0 ended twice");
    check(|kinds| drop(kinds.pop()), "the run ended with None");
    check(|kinds| kinds.push(EventKind::Paused), "after the end of the run");
    check(
        |kinds| {
            kinds[8] = EventKind::Resolved {
                ends: vec![(InstanceIdx::new(3), Resolution::Blocked { by: InstanceIdx::new(0) })],
            }
        },
        "3 is blocked by 0, which did not fail",
    );
    check(
        |kinds| kinds[8] = ended(3, ResultKind::Failed { message: String::new() }, InstanceOutcome::Failed),
        "the run ended with Some(Succeeded)",
    );
    let exceeded = EventKind::Ended {
        end: RunOutcome::ToleranceExceeded { group: GroupIdx::new(0), nodes: vec![NodeIdx::new(0)] },
    };
    check(|kinds| kinds[11] = exceeded, "the run ended with Some(ToleranceExceeded");
}

#[test]
fn ground_truth_is_compared_with_history() {
    let mut oracle = Oracle::new(draft());
    oracle.process_started(key(0), &[]);
    oracle.process_started(key(0), &[]);
    oracle.process_started(key(2), &[key(0)]);
    oracle.process_ended(key(0), &ResultKind::TimedOut);
    oracle.journaled(key(0), &ResultKind::TimedOut);
    oracle.committed(&[EngineEvent { at: Micros(0), kind: succeeded(0) }]);
    oracle.settle(&Blueprint::new(draft()).expect("a valid draft"));
    for expected in [
        "attempt 1/0/1 was executed twice",
        "1/0/1 and 1/2/1 run concurrently on one node",
        "1/2/1 was started while its predecessor 1/0/1 runs",
        "the history says that 1/0/1 succeeded, but it was Some(TimedOut)",
        "1/0/1 ended with TimedOut, but the history says Some(Succeeded)",
        "the history has no result for 1/2/1",
    ] {
        assert!(
            oracle.violations.iter().any(|violation| violation == expected),
            "{expected}\n{:#?}",
            oracle.violations
        );
    }
}
