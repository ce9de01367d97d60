//! Agent side of the session protocol, one input at a time.

use std::collections::BTreeSet;

use stoker_engine::session::agent::{AgentLimits, AgentSession, Identity, Input, Output, Record};
use stoker_engine::session::{
    Attempt, AttemptKey, AttemptResult, CancelMode, FromAgent, Generation, Hello, Mode, ResultKind, ToAgent,
};
use stoker_model::{InstanceIdx, Json, JsonMap, Micros, RunId, TaskReport};

const NOW: Micros = Micros(5);

fn key(instance: u32, attempt: u32) -> AttemptKey {
    AttemptKey { run: RunId(1), instance: InstanceIdx::new(instance), attempt }
}

fn attempt(key: AttemptKey, generation: u64) -> Attempt {
    Attempt {
        key,
        generation: Generation(generation),
        task: "a".to_owned(),
        node: "1".into(),
        task_type: "shell".to_owned(),
        parameters: Json::Null,
        mode: Mode::Normal,
        debug: false,
        timeout_ms: 1000,
        secrets: Vec::new(),
        trace: None,
    }
}

/// An agent whose disk works unless a test makes it fail.
struct Bench {
    session: AgentSession,
    journal: Vec<Record>,
    is_full: bool,
    /// Log of executed outputs.
    done: Vec<String>,
}

impl Bench {
    fn new() -> Self {
        Self::with(AgentLimits::default())
    }

    fn with(limits: AgentLimits) -> Self {
        let mut bench = Self {
            session: AgentSession::new(identity(), limits),
            journal: Vec::new(),
            is_full: false,
            done: Vec::new(),
        };
        bench.give(Input::Connected { facts: JsonMap::new() });
        bench.done.clear();
        bench
    }

    fn restart(&mut self, alive: &[AttemptKey]) {
        let alive: BTreeSet<AttemptKey> = alive.iter().copied().collect();
        let journal = self.journal.clone();
        let (session, outputs) =
            AgentSession::restore(identity(), AgentLimits::default(), journal, &alive, NOW);
        self.session = session;
        self.execute(outputs);
        self.give(Input::Connected { facts: JsonMap::new() });
    }

    fn give(&mut self, input: Input) -> &mut Self {
        let outputs = self.session.step(input, NOW);
        self.execute(outputs);
        self
    }

    fn execute(&mut self, outputs: Vec<Output>) {
        for output in outputs {
            let line = match output {
                Output::Write { seq, record } => {
                    if self.is_full {
                        self.give(Input::WriteFailed { seq, message: "no space".to_owned() });
                    } else {
                        self.journal.push(record);
                        self.give(Input::Written { seq });
                    }
                    continue;
                }
                Output::Rewrite { seq, records } => {
                    self.journal = records;
                    self.give(Input::Written { seq });
                    "rewrite".to_owned()
                }
                Output::Send(FromAgent::Started { key, .. }) => format!("started {key}"),
                Output::Send(FromAgent::Finished(finished)) => describe(&finished),
                Output::Send(FromAgent::Hello(Hello { running, finished, runs, .. })) => {
                    let running: Vec<String> = running.iter().map(ToString::to_string).collect();
                    let finished: Vec<String> = finished.iter().map(describe).collect();
                    format!("hello {running:?} {finished:?} {} runs", runs.len())
                }
                Output::Send(other) => format!("{other:?}"),
                Output::Check(request) => format!("check {}", request.id),
                Output::Start(attempt) => format!("start {}", attempt.key),
                Output::Kill(key) => format!("kill {key}"),
                Output::HeartbeatEvery { ms } => format!("heartbeat {ms}"),
                Output::Ignored { why, .. } => format!("ignored: {why}"),
            };
            self.done.push(line);
        }
    }

    fn start(&mut self, key: AttemptKey) -> &mut Self {
        self.give(Input::Message(ToAgent::Start(attempt(key, 1))))
    }

    fn exit(&mut self, key: AttemptKey, end: ResultKind) -> &mut Self {
        self.give(Input::Exited { key, end, report: TaskReport::default() })
    }

    fn acknowledge(&mut self, key: AttemptKey) -> &mut Self {
        self.give(Input::Message(ToAgent::Acknowledge { keys: vec![key] }))
    }

    fn cancel(&mut self, key: AttemptKey, how: CancelMode) -> &mut Self {
        self.give(Input::Message(ToAgent::Cancel { key, generation: Generation(1), how }))
    }

    #[track_caller]
    fn did(&mut self, expected: &[&str]) -> &mut Self {
        assert_eq!(std::mem::take(&mut self.done), expected);
        self
    }
}

fn identity() -> Identity {
    Identity { node: "1".into(), version: "1".to_owned(), journal_id: None }
}

fn describe(finished: &AttemptResult) -> String {
    let end = match &finished.end {
        ResultKind::Failed { message } => format!("failed: {message}"),
        ResultKind::Refused { message } => format!("refused: {message}"),
        other => format!("{other:?}").to_lowercase(),
    };
    format!("{} {end}", finished.key)
}

#[test]
fn attempt_starts_once_and_result_is_reported_until_acknowledged() {
    let mut bench = Bench::new();
    bench.start(key(0, 1)).did(&["start 1/0/1", "started 1/0/1"]);
    bench.start(key(0, 1)).did(&["started 1/0/1"]);
    bench.exit(key(0, 1), ResultKind::Succeeded).did(&["1/0/1 succeeded"]);
    bench.start(key(0, 1)).did(&["1/0/1 succeeded"]);
    bench.restart(&[]);
    bench.did(&["hello [] [\"1/0/1 succeeded\"] 1 runs"]);
    bench.acknowledge(key(0, 1)).did(&[]);
    bench.start(key(0, 1));
    bench.did(&["1/0/1 refused: this attempt was already executed and its result acknowledged"]);
    bench.restart(&[]);
    bench.did(&["hello [] [] 1 runs"]);
}

#[test]
fn attempt_starts_only_after_acceptance_is_journaled() {
    let mut session = AgentSession::new(identity(), AgentLimits::default());
    session.step(Input::Connected { facts: JsonMap::new() }, NOW);
    let outputs = session.step(Input::Message(ToAgent::Start(attempt(key(0, 1), 1))), NOW);
    let expected = Record::Accepted { key: key(0, 1), generation: Generation(1) };
    assert_eq!(outputs, [Output::Write { seq: 0, record: expected }]);
    let outputs = session.step(Input::Written { seq: 0 }, NOW);
    assert!(matches!(outputs[0], Output::Start(_)));
    let outputs = session.step(
        Input::Exited { key: key(0, 1), end: ResultKind::Succeeded, report: TaskReport::default() },
        NOW,
    );
    assert!(matches!(outputs[..], [Output::Write { seq: 1, record: Record::Ended(_) }]), "{outputs:?}");
    let outputs = session.step(Input::Written { seq: 1 }, NOW);
    assert!(matches!(outputs[..], [Output::Send(FromAgent::Finished(_))]), "{outputs:?}");
}

#[test]
fn restart_interrupts_attempts_that_are_not_alive() {
    let mut bench = Bench::new();
    bench.start(key(0, 1)).start(key(1, 1)).done.clear();
    bench.restart(&[key(1, 1)]);
    bench.did(&["hello [\"1/1/1\"] [\"1/0/1 interrupted\"] 1 runs", "started 1/1/1"]);
    bench.exit(key(1, 1), ResultKind::Succeeded).did(&["1/1/1 succeeded"]);
}

#[test]
fn full_disk_refuses_new_attempts_and_keeps_results() {
    let mut bench = Bench::new();
    bench.start(key(0, 1)).done.clear();
    bench.is_full = true;
    bench.start(key(1, 1)).did(&["1/1/1 refused: the agent cannot write its journal: no space"]);
    bench.exit(key(0, 1), ResultKind::Succeeded).did(&["1/0/1 succeeded"]);
    bench.is_full = false;
    bench.give(Input::Connected { facts: JsonMap::new() });
    let hello = "hello [] [\"1/0/1 succeeded\", \"1/1/1 refused: the agent cannot write its journal: no space\"] 1 runs";
    assert_eq!(bench.done[0], hello);
    assert!(
        bench
            .journal
            .iter()
            .any(|record| matches!(record, Record::Ended(it) if it.end == ResultKind::Succeeded))
    );
}

#[test]
fn stale_generation_is_ignored() {
    let mut bench = Bench::new();
    bench.give(Input::Message(ToAgent::Start(attempt(key(0, 1), 2)))).done.clear();
    bench.start(key(1, 1)).did(&["ignored: stale generation: another server holds the run lease"]);
    bench
        .cancel(key(0, 1), CancelMode::Now)
        .did(&["ignored: stale generation: another server holds the run lease"]);
    bench.restart(&[key(0, 1)]);
    bench.done.clear();
    bench.start(key(1, 1)).did(&["ignored: stale generation: another server holds the run lease"]);
}

#[test]
fn new_attempt_waits_for_the_old_process() {
    let mut bench = Bench::new();
    bench.start(key(0, 1)).done.clear();
    bench.start(key(0, 2)).did(&["kill 1/0/1"]);
    bench.exit(key(0, 1), ResultKind::Cancelled).did(&["1/0/1 cancelled", "start 1/0/2", "started 1/0/2"]);
    bench.start(key(0, 1)).did(&["1/0/1 cancelled"]);
    bench.acknowledge(key(0, 1)).start(key(0, 1));
    bench.did(&["1/0/1 refused: a later attempt of the same task was already received"]);
}

#[test]
fn cancel_applies_to_attempts_in_transit() {
    let mut bench = Bench::new();
    bench.cancel(key(0, 1), CancelMode::Graceful).did(&["1/0/1 cancelled"]);
    bench.start(key(0, 1)).did(&["1/0/1 cancelled"]);
    bench.start(key(1, 1)).done.clear();
    bench.cancel(key(1, 1), CancelMode::Graceful).did(&[]);
    bench.cancel(key(1, 1), CancelMode::Now).did(&["kill 1/1/1"]);
}

#[test]
fn ended_run_is_dropped_and_stays_ended() {
    let mut bench = Bench::new();
    bench.start(key(0, 1)).exit(key(0, 1), ResultKind::Succeeded).start(key(1, 1)).done.clear();
    bench.give(Input::Message(ToAgent::RunEnded { run: RunId(1) })).did(&["kill 1/1/1"]);
    bench.exit(key(1, 1), ResultKind::Cancelled).did(&["1/1/1 cancelled"]);
    bench.acknowledge(key(0, 1)).acknowledge(key(1, 1)).did(&[]);
    bench.start(key(2, 1)).did(&["ignored: the run has ended"]);
    bench.restart(&[]);
    bench.did(&["hello [] [] 0 runs"]);
    bench.start(key(2, 1)).did(&["ignored: the run has ended"]);
}

#[test]
fn p25_agent_serves_several_runs_concurrently() {
    let mut bench = Bench::new();
    let other = AttemptKey { run: RunId(2), ..key(0, 1) };
    bench.start(key(0, 1)).start(other).done.clear();
    bench.give(Input::Message(ToAgent::RunEnded { run: RunId(2) })).did(&["kill 2/0/1"]);
    bench.exit(key(0, 1), ResultKind::Succeeded).did(&["1/0/1 succeeded"]);
}

#[test]
fn journal_size_is_bounded() {
    let mut bench =
        Bench::with(AgentLimits { n_slack_records: 10, n_ended_runs_max: 5, ..AgentLimits::default() });
    for run in 1..200 {
        for instance in 0..3 {
            let key = AttemptKey { run: RunId(run), instance: InstanceIdx::new(instance), attempt: 1 };
            bench.start(key).exit(key, ResultKind::Succeeded).acknowledge(key);
        }
        bench.give(Input::Message(ToAgent::RunEnded { run: RunId(run) }));
        assert!(bench.journal.len() <= 40, "{} records", bench.journal.len());
    }
    bench.done.clear();
    // The run is evicted and still refused: runs of that age have ended.
    bench.start(key(0, 1));
    bench.did(&[
        "1/0/1 refused: the run is older than all runs that the agent remembers, so it must have ended",
    ]);
}

#[test]
fn too_many_unacknowledged_results_refuse_new_attempts() {
    let mut bench = Bench::with(AgentLimits { n_unacknowledged_max: 1, ..AgentLimits::default() });
    bench.start(key(0, 1)).exit(key(0, 1), ResultKind::Succeeded).done.clear();
    bench.start(key(1, 1)).did(&["1/1/1 refused: too many unacknowledged results"]);
    bench.acknowledge(key(0, 1)).start(key(1, 1));
    bench.did(&["1/1/1 refused: too many unacknowledged results"]);
    bench.acknowledge(key(1, 1)).start(key(1, 2)).did(&["start 1/1/2", "started 1/1/2"]);
}

#[test]
fn unexpected_exits_and_acks_are_ignored() {
    let mut bench = Bench::new();
    bench.exit(key(9, 1), ResultKind::Succeeded).did(&["ignored: the exited attempt was not running"]);
    bench.give(Input::Written { seq: 99 }).did(&[]);
    bench.give(Input::WriteFailed { seq: 99, message: String::new() }).did(&[]);
    bench.acknowledge(key(9, 1)).did(&[]);
    bench.give(Input::Message(ToAgent::Welcome { heartbeat_ms: 7 })).did(&["heartbeat 7"]);
}
