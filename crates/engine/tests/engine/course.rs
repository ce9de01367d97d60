//! Course of a run: retries, pauses, stops, continuation.

use stoker_engine::blueprint::Policy;
use stoker_engine::run::{EventKind, Input, InputError, InstanceState, RunEffect, RunOutcome, StopMode};
use stoker_engine::session::{CancelMode, ResultKind};
use stoker_model::{InstanceIdx, NodeIdx};

use crate::small::{POLICY, Play, Sketch};

#[test]
fn retries_back_off_and_are_bounded() {
    let mut play = Sketch::new("a@1 b@1").policy("a@1", Policy { n_retries: 2, ..POLICY }).begin();
    play.fail("a@1");
    assert_eq!(
        (play.state("a@1"), play.running().len()),
        (InstanceState::BackingOff, 0),
        "the node is not free meanwhile"
    );
    play.after(1);
    assert_eq!(play.running().len(), 0);
    play.after(1).fail("a@1").after(3);
    assert_eq!(play.running().len(), 0);
    play.after(1).end("a@1", ResultKind::TimedOut);
    assert_eq!((play.state("a@1"), play.run.n_attempts(InstanceIdx::new(0))), (InstanceState::Failed, 3));
}

#[test]
fn interrupted_attempt_is_retried_only_if_allowed() {
    let mut play = Sketch::new("a@1").policy("a@1", Policy { n_retries: 5, ..POLICY }).begin();
    play.end("a@1", ResultKind::Interrupted);
    assert_eq!(play.state("a@1"), InstanceState::Failed);
    let policy = Policy { retry_interrupted: true, ..POLICY };
    let mut play = Sketch::new("a@1").policy("a@1", policy).begin();
    play.end("a@1", ResultKind::Interrupted).after(2).end("a@1", ResultKind::Interrupted);
    assert_eq!((play.state("a@1"), play.run.n_attempts(InstanceIdx::new(0))), (InstanceState::Failed, 2));
}

#[test]
fn paused_run_starts_nothing_until_resumed() {
    let mut play = Sketch::new("a@1 > b@1").policy("a@1", Policy { n_retries: 1, ..POLICY }).begin();
    play.give(Input::Pause).fail("a@1").after(10);
    assert_eq!(play.running().len(), 0);
    assert_eq!(play.try_give(Input::Pause), Err(InputError::AlreadyPaused));
    play.give(Input::Resume);
    assert_eq!(play.running(), ["a@1"]);
    play.ok("a@1").ok("b@1");
    assert_eq!(play.try_give(Input::Resume), Err(InputError::HasEnded));
}

/// The run is paused at its start, like a graph whose predecessor ended while the run was paused.
#[test]
fn run_can_start_paused() {
    let mut play = Play::new(Sketch::new("a@1 > b@1").build().expect("valid"));
    play.give(Input::Pause);
    assert_eq!((play.running().len(), play.state("a@1")), (0, InstanceState::Ready));
    assert_eq!(play.try_give(Input::Begin), Err(InputError::AlreadyBegun));
    play.give(Input::Resume).ok("a@1").ok("b@1");
    assert_eq!(play.run_end(), Some(&RunOutcome::Succeeded));
}

#[test]
fn stop_ends_pause_without_starting_instances() {
    let last_pause = |play: &Play| {
        let mut kinds = play.events.iter().map(|event| &event.kind);
        kinds.rfind(|kind| matches!(kind, EventKind::Paused | EventKind::Resumed)).cloned()
    };
    let mut play = Sketch::new("a@1 > b@1").begin();
    play.give(Input::Pause).ok("a@1");
    assert_eq!(last_pause(&play), Some(EventKind::Paused));
    play.stop(StopMode::Graceful);
    assert_eq!((last_pause(&play), play.state("b@1")), (Some(EventKind::Resumed), InstanceState::NotStarted));
    // Exceeding the tolerance stops a paused run as well.
    let mut play = Sketch::new("a@1 a@2 > b@2").begin();
    play.give(Input::Pause).ok("a@2").fail("a@1");
    assert_eq!((last_pause(&play), play.state("b@2")), (Some(EventKind::Resumed), InstanceState::NotStarted));
}

#[test]
fn stop_request_is_recorded_even_if_the_run_finishes() {
    let mut play = Sketch::new("a@1").begin();
    assert!(!play.run.stop_requested());
    play.stop(StopMode::Graceful).ok("a@1");
    assert_eq!(play.run_end(), Some(&RunOutcome::Succeeded));
    assert!(play.run.stop_requested());
    // In this run no stop was requested.
    let mut play = Sketch::new("a@1 a@2").begin();
    play.fail("a@1").ok("a@2");
    assert!(play.run_end().is_some() && !play.run.stop_requested());
}

#[test]
fn stop_ends_backoffs_and_can_only_become_stricter() {
    let mut play = Sketch::new("a@1 b@2").policy("a@1", Policy { n_retries: 1, ..POLICY }).tolerant().begin();
    play.fail("a@1").stop(StopMode::Graceful);
    assert_eq!(play.state("a@1"), InstanceState::Failed);
    assert_eq!(play.try_give(Input::Stop { how: StopMode::Graceful }), Err(InputError::AlreadyStopping));
    play.stop(StopMode::Now);
    let how: Vec<CancelMode> = play.cancels().into_iter().map(|cancel| cancel.2).collect();
    assert_eq!(how, [CancelMode::Graceful, CancelMode::Now]);
    play.ok("b@2");
    assert_eq!(play.try_give(Input::Stop { how: StopMode::Now }), Err(InputError::HasEnded));
    assert_eq!(
        play.run_end(),
        Some(&RunOutcome::Tolerated { n_failed_nodes: 1 }),
        "everything was done after all"
    );
}

#[test]
fn immediate_stop_does_not_wait_for_lost_nodes() {
    for lost_first in [true, false] {
        let mut play = Sketch::new("a@1 > b@1").begin();
        if lost_first {
            play.lost("1").stop(StopMode::Now);
        } else {
            play.stop(StopMode::Now);
            assert_eq!(play.run_end(), None, "the agent may still report the end");
            play.lost("1");
        }
        assert!(play.run_end().is_some());
        assert_eq!(play.state("a@1"), InstanceState::Failed, "its progress is unknown");
        // A result that arrives later is recorded.
        play.end("a@1", ResultKind::Succeeded);
        assert!(matches!(play.events.last().map(|event| &event.kind), Some(EventKind::LateResult { .. })));
    }
    // A graceful stop gives the agent the usual time to come back.
    let mut play = Sketch::new("a@1 > b@1").begin();
    play.lost("1").stop(StopMode::Graceful);
    assert_eq!(play.run_end(), None);
    play.back("1").ok("a@1");
    assert!(play.run_end().is_some());
}

#[test]
fn remaining_instances_can_be_run_again() {
    let mut play = Sketch::new("a@1 > b@1 > c@1 a@2 > b@2").tolerant().begin();
    play.ok("a@1").fail("b@1").ok("a@2").ok("b@2");
    let rest = play.blueprint.remaining(&play.run);
    let mut play = Play::new(rest);
    play.give(Input::Begin);
    assert_eq!(play.running(), ["b@1"]);
    play.ok("b@1").ok("c@1");
    assert_eq!(play.run_end(), Some(&RunOutcome::Succeeded));

    let from = play.blueprint.from_instances(&[play.idx("c@1"), InstanceIdx::new(99)]);
    let mut play = Play::new(from);
    play.give(Input::Begin);
    assert_eq!(play.running(), ["c@1"]);
}

#[test]
fn progress_counts_ended_instances() {
    let mut play = Sketch::new("a@1 > b@1 > c@1 a@2").begin();
    play.ok("a@1");
    assert_eq!((play.run.progress(), play.run.node_progress(&play.blueprint, NodeIdx::new(0))), (25, 33));
    play.ok("a@2");
    assert_eq!(play.run.node_progress(&play.blueprint, NodeIdx::new(1)), 100);
    let succeeded =
        play.effects.iter().filter(|effect| matches!(effect, RunEffect::Succeeded { .. })).count();
    assert_eq!(succeeded, 2);
}
