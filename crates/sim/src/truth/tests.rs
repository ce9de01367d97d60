//! Histories that are wrong, each in one way, and what is said of them.

use stoker_engine::blueprint::{Blueprint, Draft, DraftInstance, Group, Options, Policy, Work};
use stoker_engine::run::{AttemptEnd, Event, EventKind, Next, NodeEnd, Outcome, Resolution, RunEnd};
use stoker_engine::session::{AttemptKey, End};
use stoker_graph::Csr;
use stoker_model::{JsonMap, Micros};

use super::Truth;
use crate::world::RUN;

/// `a` and `b` on two nodes, `a` before `b` on each: instances 0 and 1, then 2 and 3; at most one `a` at once.
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
        DraftInstance { task, node, work: Some(Work { executor: node, policy, limit }) }
    };
    Draft {
        nodes: vec!["1".to_owned(), "2".to_owned()],
        sync: None,
        tasks: vec!["a".to_owned(), "b".to_owned()],
        instances: vec![instance(0, 0), instance(0, 1), instance(1, 0), instance(1, 1)],
        order: Csr::new(4, vec![(0, 2), (1, 3)]),
        groups: vec![Group { name: "all".to_owned(), nodes: vec![0, 1], tolerated: 1 }],
        durations: Vec::new(),
        options: Options { nodes_at_once: 2, ..Options::default() },
    }
}

fn key(instance: u32) -> AttemptKey {
    AttemptKey { run: RUN, instance, attempt: 1 }
}

fn begun(instance: u32) -> EventKind {
    EventKind::Dispatched { instance, attempt: 1 }
}

fn ended(instance: u32, end: End, outcome: Outcome) -> EventKind {
    let (end, next) = (AttemptEnd::Reported(end), Next::Final(outcome));
    EventKind::AttemptEnded { instance, attempt: 1, ended_at: Micros(0), end, summary: JsonMap::new(), next }
}

fn well(instance: u32) -> EventKind {
    ended(instance, End::Succeeded, Outcome::Succeeded)
}

/// What is said of a history; processes do what it says.
fn said(kinds: &[EventKind]) -> Vec<String> {
    let mut truth = Truth::new(draft());
    for kind in kinds {
        match kind {
            EventKind::Dispatched { instance, .. } => truth.process_begins(key(*instance), &[]),
            EventKind::AttemptEnded { instance, end: AttemptEnd::Reported(end), .. } => {
                truth.process_ended(key(*instance), end);
                truth.journaled(key(*instance), end);
            }
            _ => {}
        }
        truth.committed(&[Event { at: Micros(0), kind: kind.clone() }]);
    }
    truth.settle(&Blueprint::new(draft()).expect("a right draft"));
    truth.broken
}

fn right() -> Vec<EventKind> {
    let mut kinds = vec![EventKind::Began];
    for instance in 0..4 {
        kinds.extend([begun(instance), well(instance)]);
    }
    kinds.extend((0..2).map(|node| EventKind::NodeEnded { node, end: NodeEnd::Succeeded }));
    kinds.push(EventKind::Ended { end: RunEnd::Succeeded });
    kinds
}

#[track_caller]
fn check(change: impl FnOnce(&mut Vec<EventKind>), expected: &str) {
    let mut kinds = right();
    change(&mut kinds);
    let said = said(&kinds);
    assert!(said.iter().any(|broken| broken.contains(expected)), "{expected:?} in {said:#?}");
}

#[test]
fn a_right_history_is_right() {
    assert_eq!(said(&right()), Vec::<String>::new());
}

#[test]
fn wrong_histories_are_noticed() {
    check(|kinds| kinds.swap(1, 5), "before it did not end well");
    check(|kinds| kinds.swap(2, 3), "too many instances of task 0");
    check(|kinds| kinds.insert(3, begun(0)), "begun after its end");
    check(|kinds| kinds.insert(2, begun(2)), "two tasks of one node at once");
    check(|kinds| drop(kinds.remove(2)), "instance 0 has no end");
    check(|kinds| kinds.insert(3, well(0)), "two ends of 1/0/1");
    check(|kinds| drop(kinds.remove(9)), "node 0 has no end");
    check(|kinds| kinds.insert(9, kinds[9].clone()), "node 0 ended twice");
    check(|kinds| drop(kinds.pop()), "the run ended with None");
    check(|kinds| kinds.push(EventKind::Paused), "after the end of the run");
    check(
        |kinds| kinds[8] = EventKind::Resolved { ends: vec![(3, Resolution::Blocked { by: 0 })] },
        "3 is blocked by 0, which did not fail",
    );
    check(
        |kinds| kinds[8] = ended(3, End::Failed { message: String::new() }, Outcome::Failed),
        "the run ended with Some(Succeeded)",
    );
    let exceeded = EventKind::Ended { end: RunEnd::ToleranceExceeded { group: 0, nodes: vec![0] } };
    check(|kinds| kinds[11] = exceeded, "the run ended with Some(ToleranceExceeded");
}

#[test]
fn what_the_world_saw_is_held_against_history() {
    let mut truth = Truth::new(draft());
    truth.process_begins(key(0), &[]);
    truth.process_begins(key(0), &[]);
    truth.process_begins(key(2), &[key(0)]);
    truth.process_ended(key(0), &End::TimedOut);
    truth.journaled(key(0), &End::TimedOut);
    truth.committed(&[Event { at: Micros(0), kind: well(0) }]);
    truth.settle(&Blueprint::new(draft()).expect("a right draft"));
    for expected in [
        "attempt 1/0/1 was carried out twice",
        "1/0/1 and 1/2/1 run at once on one node",
        "1/2/1 has begun while 1/0/1, which is before it, runs",
        "history says that 1/0/1 succeeded; it was Some(TimedOut)",
        "1/0/1 ended with TimedOut, and history says Some(Succeeded)",
        "nothing is known of the end of 1/2/1",
    ] {
        assert!(truth.broken.iter().any(|broken| broken == expected), "{expected}\n{:#?}", truth.broken);
    }
}
