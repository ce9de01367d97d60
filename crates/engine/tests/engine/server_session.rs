//! Server side of the session, step by step.

use stoker_engine::session::InFlight;
use stoker_engine::session::host::HostSession;
use stoker_engine::session::server::{Input, Output, ServerSession, SessionSettings};
use stoker_engine::session::{
    AttemptKey, AttemptResult, CancelMode, FromAgent, Generation, Hello, ResultKind, ToAgent,
};
use stoker_model::{InstanceIdx, JsonMap, Micros, RunId, TaskReport};

const ONE: Generation = Generation(1);

fn key(instance: u32) -> AttemptKey {
    AttemptKey { run: RunId(1), instance: InstanceIdx::new(instance), attempt: 1 }
}

fn finished(key: AttemptKey) -> AttemptResult {
    AttemptResult { key, at: Micros(0), end: ResultKind::Succeeded, report: TaskReport::default() }
}

fn hello(running: &[AttemptKey], ended: &[AttemptKey]) -> Input {
    let keys = running.iter().chain(ended);
    Input::Message(FromAgent::Hello(Hello {
        node: "1".into(),
        version: "1".to_owned(),
        running: running.to_vec(),
        finished: ended.iter().copied().map(finished).collect(),
        runs: keys.map(|key| key.run).take(1).collect(),
        facts: JsonMap::new(),
        journal_id: None,
    }))
}

fn session() -> ServerSession {
    ServerSession::new(SessionSettings::default(), Micros(0)).0
}

/// Outputs except those sent on every connect.
fn relevant(outputs: Vec<Output>) -> Vec<Output> {
    let is_plain = |output: &Output| {
        matches!(
            output,
            Output::Connected
                | Output::Facts(_)
                | Output::Send(ToAgent::Welcome { .. })
                | Output::QueryRuns { .. }
        )
    };
    outputs.into_iter().filter(|output| !is_plain(output)).collect()
}

#[test]
fn hello_redelivers_only_unknown_attempts() {
    let mut session = session();
    for instance in 0..4 {
        let key = key(instance);
        assert_eq!(
            session.step(Input::Dispatch { key, generation: ONE }, Micros(0)),
            [],
            "no agent is connected"
        );
    }
    session.step(Input::Cancel { key: key(3), generation: ONE, how: CancelMode::Graceful }, Micros(0));
    let outputs = relevant(session.step(hello(&[key(1)], &[key(2)]), Micros(0)));
    let cancel = ToAgent::Cancel { key: key(3), generation: ONE, how: CancelMode::Graceful };
    let expected = [
        Output::Deliver { key: key(0), generation: ONE },
        Output::Send(cancel),
        Output::Finished(finished(key(2))),
    ];
    assert_eq!(outputs, expected);
    assert_eq!(
        session.step(Input::Dispatch { key: key(0), generation: ONE }, Micros(0)),
        [],
        "once is enough"
    );
}

/// An agent without its journal, as after a reinstallation of the host or a replacement by another agent.
#[test]
fn started_attempt_unknown_to_the_agent_is_interrupted() {
    let mut session = session();
    session.step(hello(&[], &[]), Micros(0));
    for instance in 0..3 {
        session.step(Input::Dispatch { key: key(instance), generation: ONE }, Micros(0));
    }
    session.step(Input::Message(FromAgent::Started { key: key(0), at: Micros(0) }), Micros(0));
    session.step(Input::Message(FromAgent::Started { key: key(1), at: Micros(0) }), Micros(0));
    session.step(Input::Disconnected, Micros(0));
    let at = Micros(5);
    let interrupted = |key: AttemptKey| {
        Output::Finished(AttemptResult { at, end: ResultKind::Interrupted, ..finished(key) })
    };
    let outputs = relevant(session.step(hello(&[key(1)], &[]), at));
    assert_eq!(outputs, [interrupted(key(0)), Output::Deliver { key: key(2), generation: ONE }]);
    // Repeated until the result is recorded.
    session.step(Input::Recorded { keys: vec![key(0)] }, at);
    let outputs = relevant(session.step(hello(&[key(1), key(2)], &[]), at));
    assert_eq!(outputs, []);
}

#[test]
fn started_attempt_is_not_redelivered_after_server_restart() {
    let flight = |instance: u32, is_started: bool| InFlight { key: key(instance), is_started, cancel: None };
    let flights = [flight(0, true), flight(1, false), flight(2, true)];
    let at = Micros(5);
    let interrupted =
        Output::Finished(AttemptResult { at, end: ResultKind::Interrupted, ..finished(key(0)) });
    let deliver = Output::Deliver { key: key(1), generation: ONE };
    // In either order: the agent connects first, or the run claims its attempts first.
    let (mut session, _) = HostSession::new(SessionSettings::default(), Micros(0));
    session.step(hello(&[key(2)], &[]), at);
    assert_eq!(relevant(session.claim(RunId(1), ONE, &flights, at)), [interrupted.clone(), deliver.clone()]);
    let (mut session, _) = HostSession::new(SessionSettings::default(), Micros(0));
    assert_eq!(relevant(session.claim(RunId(1), ONE, &flights, at)), []);
    assert_eq!(relevant(session.step(hello(&[key(2)], &[]), at)), [interrupted, deliver]);
}

#[test]
fn result_is_acknowledged_only_when_recorded() {
    let mut session = session();
    session.step(hello(&[], &[]), Micros(0));
    session.step(Input::Dispatch { key: key(0), generation: ONE }, Micros(0));
    let outputs = session.step(Input::Message(FromAgent::Finished(finished(key(0)))), Micros(0));
    assert_eq!(outputs, [Output::Finished(finished(key(0)))]);
    assert_eq!(session.in_flight().count(), 1);
    let outputs = session.step(Input::Recorded { keys: vec![key(0)] }, Micros(0));
    assert_eq!(outputs, [Output::Send(ToAgent::Acknowledge { keys: vec![key(0)] })]);
    assert_eq!(session.in_flight().count(), 0);
}

#[test]
fn stray_attempts_are_cancelled_or_their_run_ended() {
    let mut session = session();
    let outputs = session.step(hello(&[key(5)], &[]), Micros(0));
    assert!(outputs.contains(&Output::QueryRuns { runs: vec![RunId(1)] }));
    let outputs = session.step(Input::RunStatus { run: RunId(1), generation: Some(ONE) }, Micros(0));
    let cancel = ToAgent::Cancel { key: key(5), generation: ONE, how: CancelMode::Now };
    assert_eq!(outputs, [Output::Send(cancel)]);
    let outputs = session.step(Input::RunStatus { run: RunId(1), generation: None }, Micros(0));
    assert_eq!(outputs, [Output::Send(ToAgent::RunEnded { run: RunId(1) })]);
}

#[test]
fn new_attempt_replaces_the_old_one() {
    let mut session = session();
    session.step(Input::Dispatch { key: key(0), generation: ONE }, Micros(0));
    let second = AttemptKey { attempt: 2, ..key(0) };
    session.step(Input::Dispatch { key: second, generation: ONE }, Micros(0));
    assert_eq!(session.in_flight().collect::<Vec<_>>(), [second]);
}

#[test]
fn silent_agent_is_lost_until_it_reconnects() {
    let at = |seconds: i64| Micros(seconds * Micros::SECOND);
    let (mut session, first) = ServerSession::new(SessionSettings::default(), at(0));
    assert_eq!(first, [Output::WakeAt(at(30))]);
    session.step(hello(&[], &[]), at(1));
    session.step(Input::Message(FromAgent::Heartbeat), at(20));
    assert_eq!(session.step(Input::Wake, at(30)), [Output::WakeAt(at(50))]);
    assert_eq!(session.step(Input::Wake, at(50)), [Output::Lost, Output::Disconnect]);
    assert!(session.is_lost() && !session.is_connected());
    assert_eq!(session.step(Input::Wake, at(51)), []);
    let outputs = session.step(hello(&[], &[]), at(60));
    assert_eq!(outputs[..2], [Output::Connected, Output::WakeAt(at(90))]);
}
