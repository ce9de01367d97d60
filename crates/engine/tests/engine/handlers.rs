//! Handlers, which run only if a trigger changed something.

use stoker_engine::blueprint::Policy;
use stoker_engine::run::{Input, InstanceState, RunEffect, RunOutcome, StopMode};
use stoker_engine::session::{Mode, ResultKind};
use stoker_model::TaskReport;

use crate::small::{POLICY, Play, Sketch};

impl Play {
    /// Ends the current attempt of an instance with a report.
    fn reports(&mut self, name: &str, end: ResultKind, changed: Option<bool>) -> &mut Self {
        let key = self.key(name, self.run.n_attempts(self.idx(name)));
        let (at, report) = (self.now, TaskReport { changed, ..TaskReport::default() });
        self.give(Input::AttemptFinished { key, at, end, report })
    }

    fn triggered(&self) -> Vec<String> {
        let name = |effect: &RunEffect| match effect {
            RunEffect::Triggered { instance } => Some(self.blueprint.name(*instance)),
            _ => None,
        };
        self.effects.iter().filter_map(name).collect()
    }
}

fn failed() -> ResultKind {
    ResultKind::Failed { message: "no".to_owned() }
}

#[test]
fn a_handler_runs_after_a_change_or_an_unknown_effect() {
    for (changed, state) in [
        (Some(true), InstanceState::Dispatched),
        (None, InstanceState::Dispatched),
        (Some(false), InstanceState::Skipped),
    ] {
        let mut play = Sketch::new("config@1 > reload@1 > after@1").handler("reload@1", "config@1").begin();
        play.reports("config@1", ResultKind::Succeeded, changed);
        assert_eq!(play.state("reload@1"), state, "{changed:?}");
        if state == InstanceState::Skipped {
            assert!(play.triggered().is_empty());
            play.ok("after@1");
        } else {
            assert_eq!(play.triggered(), ["reload@1"]);
            play.ok("reload@1").ok("after@1");
        }
        assert_eq!(play.run_end(), Some(&RunOutcome::Succeeded));
    }
}

#[test]
fn a_handler_runs_once_after_all_of_its_triggers() {
    let sketch = Sketch::new("a@1 > reload@1 b@2 > reload@1")
        .handler("reload@1", "a@1")
        .handler("reload@1", "b@2")
        .options(|options| options.max_concurrent_nodes = 2);
    let mut play = sketch.begin();
    play.reports("a@1", ResultKind::Succeeded, Some(true));
    assert_eq!(play.state("reload@1"), InstanceState::Pending, "b has not ended");
    play.reports("b@2", ResultKind::Succeeded, Some(true)).ok("reload@1");
    assert_eq!(play.triggered(), ["reload@1"], "recorded once");
    assert_eq!(play.run_end(), Some(&RunOutcome::Succeeded));
}

#[test]
fn a_change_of_a_failed_attempt_counts() {
    let policy = Policy { n_retries: 1, ..POLICY };
    let mut play =
        Sketch::new("config@1 > reload@1").handler("reload@1", "config@1").policy("config@1", policy).begin();
    play.reports("config@1", failed(), Some(true)).after(3);
    play.reports("config@1", ResultKind::Succeeded, Some(false));
    assert_eq!(play.running(), ["reload@1"], "the retry found what the first attempt had changed");
}

#[test]
fn an_untriggered_handler_does_not_hide_a_failure() {
    let mut play = Sketch::new("config@1 > reload@1 > after@2 other@2 > reload@1")
        .handler("reload@1", "config@1")
        .tolerant()
        .options(|options| options.max_concurrent_nodes = 2)
        .begin();
    play.reports("config@1", ResultKind::Succeeded, Some(false));
    play.reports("other@2", failed(), None);
    assert_eq!(play.state("reload@1"), InstanceState::Skipped);
    assert_eq!(play.state("after@2"), InstanceState::Blocked);
}

#[test]
fn a_triggered_handler_runs_in_the_rest_of_the_run() {
    let mut play = Sketch::new("config@1 > reload@1 > idle@1 > late@1")
        .handler("reload@1", "config@1")
        .handler("late@1", "idle@1")
        .begin();
    play.reports("config@1", ResultKind::Succeeded, Some(true)).fail("reload@1");
    let mut rest = Play::new(play.blueprint.remaining(&play.run));
    rest.give(Input::Begin);
    assert_eq!(rest.state("config@1"), InstanceState::Skipped);
    assert_eq!(rest.running(), ["reload@1"]);
    rest.ok("reload@1").reports("idle@1", ResultKind::Succeeded, Some(false));
    assert_eq!(rest.state("late@1"), InstanceState::Skipped, "still a handler");

    // A handler that is named runs without a trigger.
    let mut named = Play::new(play.blueprint.from_instances(&[play.idx("reload@1")]));
    named.give(Input::Begin);
    assert_eq!(named.running(), ["reload@1"]);
}

#[test]
fn a_stopped_run_leaves_the_trigger_recorded() {
    let mut play = Sketch::new("config@1 > reload@1").handler("reload@1", "config@1").begin();
    play.stop(StopMode::Graceful).reports("config@1", ResultKind::Succeeded, Some(true));
    assert_eq!(play.state("reload@1"), InstanceState::NotStarted);
    assert_eq!(play.triggered(), ["reload@1"]);
}

#[test]
fn a_dry_run_triggers_and_records_nothing() {
    let mut play = Sketch::new("config@1 > reload@1")
        .handler("reload@1", "config@1")
        .options(|options| options.mode = Mode::Noop)
        .begin();
    play.reports("config@1", ResultKind::Succeeded, Some(true));
    assert_eq!(play.running(), ["reload@1"]);
    assert!(play.triggered().is_empty());
}
