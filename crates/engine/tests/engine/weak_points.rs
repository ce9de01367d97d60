//! Regression tests for the weak points of the predecessor of the engine, one per numbered requirement.

use stoker_engine::blueprint::{Defect, FailurePolicy, Policy, StagePolicy, ZERO_TOLERANCE};
use stoker_engine::run::{
    AttemptOutcome, EventKind, Input, InputError, InstanceState, NodeOutcome, NotStarted, Resolution,
    RunEffect, RunMachine, RunOutcome, StopMode,
};
use stoker_engine::session::{CancelMode, ResultKind};
use stoker_model::{GroupIdx, HistoryStatus, NodeIdx, NodeStatus, RunStatus, TaskReport};

use crate::small::{POLICY, RUN, Sketch};

#[test]
fn p01_exceeded_tolerance_is_an_error_with_the_group_name() {
    let mut play = Sketch::new("a@1 a@2 a@3").group("compute", &["1", "2", "3"], 1).begin();
    play.fail("a@1");
    assert_eq!(play.run_end(), None);
    play.fail("a@2");
    assert_eq!(play.run_end(), None, "attempts in flight finish first");
    assert_eq!(play.run.exceeded_group(), Some(GroupIdx::new(0)));
    play.ok("a@3");
    assert_eq!(
        play.run_end(),
        Some(&RunOutcome::ToleranceExceeded {
            group: GroupIdx::new(0),
            nodes: vec![NodeIdx::new(0), NodeIdx::new(1)]
        })
    );
    assert_eq!(play.run_end().map(RunOutcome::status), Some(RunStatus::Error));
    assert_eq!(play.message(), "group `compute` tolerates 1 failed node, but 2 failed: 1, 2");
    assert_eq!(play.node_end("3"), Some(NodeOutcome::Succeeded));
}

#[test]
fn p01_ungrouped_nodes_must_not_fail() {
    let mut play = Sketch::new("a@1 a@2").group("compute", &["1"], 1).begin();
    play.fail("a@2").ok("a@1");
    assert!(play.message().contains(ZERO_TOLERANCE), "{}", play.message());
}

#[test]
fn p01_tolerated_failures_are_reported() {
    let mut play = Sketch::new("a@1 a@2").group("compute", &["1", "2"], 1).begin();
    play.fail("a@2").ok("a@1");
    assert_eq!(play.run_end(), Some(&RunOutcome::Tolerated { n_failed_nodes: 1 }));
    assert_eq!(play.message(), "1 node failed, which its group tolerates");
    assert_eq!(play.run_end().map(RunOutcome::status), Some(RunStatus::Ready));
}

#[test]
fn p02_fail_on_error_false_covers_all_failures() {
    let harmless = Policy { fail_on_error: false, ..POLICY };
    for end in [
        ResultKind::Failed { message: "no".to_owned() },
        ResultKind::TimedOut,
        ResultKind::Interrupted,
        ResultKind::Refused { message: "full".to_owned() },
        ResultKind::Cancelled,
    ] {
        let mut play = Sketch::new("a@1 > b@1").policy("a@1", harmless).begin();
        play.end("a@1", end.clone()).ok("b@1");
        assert_eq!(play.state("a@1"), InstanceState::Ignored, "{end:?}");
        assert_eq!(play.run_end(), Some(&RunOutcome::Succeeded), "{end:?}");
    }
    let mut play = Sketch::new("a@1 > b@1").policy("a@1", harmless).begin();
    play.after(161).ok("b@1");
    assert_eq!(play.state("a@1"), InstanceState::Ignored, "no answer");
}

#[test]
fn p03_node_outcome_is_final() {
    let mut play = Sketch::new("a@1 a@2 > b@2").begin();
    play.ok("a@1").fail("a@2");
    assert_eq!(play.node_end("1"), Some(NodeOutcome::Succeeded));
    let ended = play
        .effects
        .iter()
        .filter(|effect| matches!(effect, RunEffect::NodeEnded { node, .. } if *node == play.node("1")));
    assert_eq!(ended.count(), 1);
    assert_eq!(NodeOutcome::Succeeded.status(), NodeStatus::Ready);
}

#[test]
fn p03_skipped_instances_do_not_stop_a_node() {
    let mut play = Sketch::new("a@1 > b@1 a@2 > b@1 a@2 > b@2").skip("b@1").begin();
    play.ok("a@1").stop(StopMode::Graceful).ok("a@2");
    assert_eq!(
        (play.node_end("1"), play.node_end("2")),
        (Some(NodeOutcome::Succeeded), Some(NodeOutcome::Stopped))
    );
}

#[test]
fn p04_blocked_node_does_not_count_as_failed() {
    let mut play = Sketch::new("a@2 > b@1 c@1 a@2 > b@3").group("all", &["1", "2", "3"], 1).begin();
    play.ok("c@1").fail("a@2");
    assert_eq!(play.run.failed_nodes(GroupIdx::new(0)), [play.node("2")]);
    assert_eq!(play.run_end(), Some(&RunOutcome::Tolerated { n_failed_nodes: 1 }));
    let by = play.idx("a@2");
    assert_eq!(play.node_end("1"), Some(NodeOutcome::Blocked { by }));
    assert_eq!(play.node_end("2"), Some(NodeOutcome::Failed { by }));
    assert_eq!(play.run.cause(play.idx("b@3")), Some(by));
}

#[test]
fn p05_every_instance_and_every_node_ends() {
    let mut play = Sketch::new("a@1 > b@2 > c@2 > d@3 x@4 > y@4").tolerant().begin();
    play.fail("a@1");
    let by = play.idx("a@1");
    assert_eq!(play.node_end("2"), Some(NodeOutcome::Blocked { by }), "the node was idle");
    assert_eq!(play.node_end("3"), Some(NodeOutcome::Blocked { by }));
    play.stop(StopMode::Now).end("x@4", ResultKind::Cancelled);
    assert_eq!(play.state("x@4"), InstanceState::Cancelled);
    assert_eq!(play.state("y@4"), InstanceState::NotStarted);
    assert_eq!(play.node_end("4"), Some(NodeOutcome::Stopped));
    assert!(play.states().into_iter().all(InstanceState::is_final));
    assert!(play.states().into_iter().all(|state| state.history_status() != HistoryStatus::Pending));
    assert_eq!(play.run_end(), Some(&RunOutcome::Stopped));
}

#[test]
fn p06_on_failure_policy_decides_remaining_tasks() {
    let sketch = Sketch::new("a@1 b@1 a@1 > c@1").durations(&[9, 1, 1]).tolerant();
    let mut play = sketch.begin();
    play.fail("a@1");
    let by = play.idx("a@1");
    let ends = |play: &crate::small::Play| {
        play.events
            .iter()
            .filter_map(|event| match &event.kind {
                EventKind::Resolved { ends } => Some(ends.clone()),
                _ => None,
            })
            .flatten()
            .collect::<Vec<_>>()
    };
    let not_started = Resolution::NotStarted(NotStarted::NodeFailed { by });
    assert_eq!(ends(&play), [(play.idx("b@1"), not_started), (play.idx("c@1"), Resolution::Blocked { by })]);

    let mut play = sketch.options(|options| options.on_failure = FailurePolicy::NodeContinues).begin();
    play.fail("a@1").ok("b@1");
    assert_eq!(ends(&play), [(play.idx("c@1"), Resolution::Blocked { by })]);
    assert_eq!(play.node_end("1"), Some(NodeOutcome::Failed { by }));
}

#[test]
fn p07_stages_are_passed_or_held() {
    let sketch = Sketch::new("a@1 > end@sync a@2 > end@sync > b@1 end@sync > b@2").tolerant();
    let mut play = sketch.begin();
    play.fail("a@1").ok("a@2");
    assert_eq!(play.running(), ["b@2"]);
    assert_eq!(play.state("b@1"), InstanceState::NotStarted);
    play.ok("b@2");
    assert_eq!(play.run_end(), Some(&RunOutcome::Tolerated { n_failed_nodes: 1 }));

    let mut play = sketch.options(|options| options.at_stages = StagePolicy::Hold).begin();
    play.fail("a@1").ok("a@2");
    assert_eq!(play.state("b@2"), InstanceState::Blocked);
    assert_eq!(play.message(), "stage end@sync was not passed because a@1 did not succeed");
    assert_eq!(play.run_end().map(RunOutcome::status), Some(RunStatus::Error));
}

#[test]
fn p07_stage_waits_for_predecessors_of_blocked_tasks() {
    // `slow@2` precedes the stage only through a task that will not run.
    let mut play = Sketch::new("a@1 > b@1 slow@2 > b@1 > end@sync > c@3").tolerant().begin();
    play.fail("a@1");
    assert_eq!(play.state("c@3"), InstanceState::Pending);
    play.ok("slow@2");
    assert_eq!(play.running(), ["c@3"]);
}

#[test]
fn p09_smallest_limit_applies_despite_skips() {
    let sketch = Sketch::new("a@1 a@2 a@3 a@4 a@5").skip("a@5");
    let sketch = sketch.limit("a@1", 3).limit("a@2", 2).limit("a@5", 1).limit("a@3", 0);
    let mut play = sketch.begin();
    assert_eq!(play.running(), ["a@1", "a@2"]);
    play.ok("a@1");
    assert_eq!(play.running(), ["a@2", "a@3"]);
}

#[test]
fn p09_node_waiting_for_a_limit_runs_other_tasks() {
    let sketch = Sketch::new("a@1 a@2 b@2").limit("a@1", 1).durations(&[9, 8, 1]);
    let mut play = sketch.begin();
    assert_eq!(play.running(), ["a@1", "b@2"]);
    play.ok("a@1");
    assert_eq!(play.running(), ["b@2"], "node 2 is busy now");
    play.ok("b@2").ok("a@2");
    assert_eq!(play.run_end(), Some(&RunOutcome::Succeeded));
}

#[test]
fn p12_run_stopped_before_start_executes_nothing() {
    let sketch = Sketch::new("a@1 > b@1 a@2");
    let mut play = crate::small::Play::new(sketch.build().expect("valid"));
    play.stop(StopMode::Graceful);
    assert_eq!(play.run_end(), Some(&RunOutcome::Stopped));
    assert!(!play.effects.iter().any(|effect| matches!(effect, RunEffect::Dispatch(_))));
    assert!(play.states().into_iter().all(|state| state == InstanceState::NotStarted));
}

#[test]
fn p13_run_is_restored_from_history() {
    let mut play = Sketch::new("a@1 > b@1 a@2 > b@2").begin();
    play.ok("a@1");
    let restored = RunMachine::restore(RUN, &play.blueprint, &play.events).expect("a valid history");
    let dispatched: Vec<String> = restored
        .effects()
        .iter()
        .filter_map(|effect| match effect {
            RunEffect::Dispatch(key) => Some(play.blueprint.name(key.instance)),
            _ => None,
        })
        .collect();
    assert_eq!(dispatched, ["b@1", "a@2"]);
    assert_eq!(restored.next_timer(), play.run.next_timer());
}

#[test]
fn p14_attempts_have_unique_keys() {
    let mut play = Sketch::new("a@1").policy("a@1", Policy { n_retries: 1, ..POLICY }).begin();
    // No result arrives until long after the timeout, so another attempt is made.
    play.after(161).after(2);
    assert_eq!(play.cancels(), [("a@1".to_owned(), 1, CancelMode::Now)]);
    let (old, at) = (play.key("a@1", 1), play.now);
    let ended =
        |key| Input::AttemptFinished { key, at, end: ResultKind::Succeeded, report: TaskReport::default() };
    play.give(ended(old));
    assert!(matches!(play.events.last().map(|event| &event.kind), Some(EventKind::LateResult { .. })));
    assert_eq!(play.state("a@1"), InstanceState::Dispatched);
    let n_events = play.events.len();
    play.give(ended(old));
    assert_eq!(play.events.len(), n_events, "recorded once");
    let new = play.key("a@1", 2);
    play.give(ended(new));
    assert_eq!(play.run_end(), Some(&RunOutcome::Succeeded));
    let never = play.key("a@1", 3);
    assert_eq!(play.try_give(ended(never)), Err(InputError::UnknownAttempt));
}

#[test]
fn p15_timed_out_attempt_is_cancelled() {
    let mut play = Sketch::new("a@1").tolerant().begin();
    play.after(159);
    assert_eq!(play.running(), ["a@1"], "within the grace period");
    play.after(1);
    assert_eq!(play.cancels(), [("a@1".to_owned(), 1, CancelMode::Now)]);
    assert_eq!(play.state("a@1"), InstanceState::Failed);
    let at = play.now;
    let key = play.key("a@1", 1);
    play.give(Input::AttemptStarted { key, at });
    assert_eq!(play.cancels().len(), 2, "cancelled again if the agent starts it late");
}

#[test]
fn p16_dispatched_is_not_started() {
    let mut play = Sketch::new("a@1").begin();
    assert_eq!(play.state("a@1"), InstanceState::Dispatched);
    let (key, at) = (play.key("a@1", 1), play.now);
    play.give(Input::AttemptStarted { key, at }).give(Input::AttemptStarted { key, at });
    assert_eq!(play.state("a@1"), InstanceState::Started);
    assert_eq!(play.events.iter().filter(|it| matches!(it.kind, EventKind::Started { .. })).count(), 1);
}

#[test]
fn p18_lost_node_is_detected_and_tolerated_for_a_while() {
    let mut play = Sketch::new("a@1 > b@1 a@2").tolerant().begin();
    play.ok("a@2").lost("1").after(299);
    assert_eq!(play.run.node_end(NodeIdx::new(0)), None);
    play.back("1").ok("a@1").ok("b@1");
    assert_eq!(play.run_end(), Some(&RunOutcome::Succeeded));

    let mut play = Sketch::new("a@1 > b@1 a@1 > c@2 a@2").tolerant().begin();
    play.lost("1").ok("a@2").after(300);
    assert_eq!(play.node_end("1"), Some(NodeOutcome::Lost));
    let end = play.events.iter().find_map(|event| match &event.kind {
        EventKind::AttemptEnded { end, .. } if *end != AttemptOutcome::Reported(ResultKind::Succeeded) => {
            Some(end)
        }
        _ => None,
    });
    assert_eq!(end, Some(&AttemptOutcome::Lost));
    assert_eq!(play.run_end(), Some(&RunOutcome::Tolerated { n_failed_nodes: 1 }));
    let (key, at) = (play.key("a@1", 1), play.now);
    play.give(Input::AttemptFinished { key, at, end: ResultKind::Succeeded, report: TaskReport::default() });
    assert_eq!(play.state("a@1"), InstanceState::Failed, "late results are recorded and change nothing");
}

#[test]
fn p18_absent_node_fails_the_run_only_if_needed() {
    let mut play = crate::small::Play::new(Sketch::new("a@1 a@2").tolerant().build().expect("valid"));
    play.lost("2").give(Input::Begin);
    assert_eq!(play.running(), ["a@1"], "nothing is dispatched to an absent agent");
    play.ok("a@1").after(300);
    assert_eq!(play.state("a@2"), InstanceState::NotStarted);
    assert_eq!(play.run_end(), Some(&RunOutcome::Tolerated { n_failed_nodes: 1 }));
}

#[test]
fn p18_master_task_waits_for_the_master_agent() {
    let sketch = Sketch::new("a@1 a@2 b@2").executor("a@1", "master").executor("a@2", "master").tolerant();
    let mut play = sketch.begin();
    assert_eq!(play.running(), ["a@1", "a@2"], "the master executes both concurrently");
    play.ok("a@1").lost("master").after(300);
    assert_eq!(play.state("a@2"), InstanceState::Failed);
    assert_eq!(play.node_end("master"), Some(NodeOutcome::Lost));
}

#[test]
fn p20_slow_node_does_not_delay_others() {
    let mut play = Sketch::new("a@1 > b@1 a@2 > b@2 b@2 > c@3").begin();
    play.ok("a@2").ok("b@2").ok("c@3");
    assert_eq!(play.state("a@1"), InstanceState::Dispatched, "still running");
    assert_eq!(play.state("b@1"), InstanceState::Pending);
    for node in ["2", "3"] {
        assert_eq!(play.node_end(node), Some(NodeOutcome::Succeeded), "node {node}");
    }
    play.ok("a@1").ok("b@1");
    assert_eq!(play.run_end(), Some(&RunOutcome::Succeeded));
}

#[test]
fn p24_weights_stay_small() {
    let layer = |depth: usize| (0..4).map(move |node| format!("t{depth}@{node}"));
    let pairs = (0..19).flat_map(|depth| {
        layer(depth).flat_map(move |from| layer(depth + 1).map(move |to| format!("{from} > {to}")))
    });
    let mut play = Sketch::new(&pairs.collect::<Vec<_>>().join(" ")).begin();
    for depth in 0..20 {
        for name in layer(depth) {
            play.ok(&name);
        }
    }
    assert_eq!(play.run_end(), Some(&RunOutcome::Succeeded));
}

#[test]
fn p11_all_defects_are_reported_before_the_run() {
    let mut draft = Sketch::new("a@1 > b@1 > a@1 c@2").draft();
    draft.options.max_concurrent_nodes = 0;
    let defects = stoker_engine::blueprint::Blueprint::new(draft).expect_err("defects");
    let cycle = ["a@1", "b@1", "a@1"].map(str::to_owned).to_vec();
    assert_eq!(defects, [Defect::ZeroConcurrency, Defect::Cycle { instances: cycle }]);
}
