//! Snapshots of the wire format, on which agents of the previous release rely.

use serde_json::json;
use stoker_engine::session::{
    Attempt, AttemptKey, AttemptResult, CancelMode, CheckItem, CheckOutcome, CheckReport, CheckRequest,
    FromAgent, Generation, Hello, Mode, ResultKind, Stream, ToAgent,
};
use stoker_model::{HostDifference, InstanceIdx, JsonMap, Micros, RunId, TaskReport};
use stoker_wire::{encode_from_agent, encode_to_agent};

const KEY: AttemptKey = AttemptKey { run: RunId(7), instance: InstanceIdx::new(2), attempt: 1 };

#[test]
fn messages_to_agents() {
    let attempt = Attempt {
        key: KEY,
        generation: Generation(3),
        task: "ntp".into(),
        node: "1".into(),
        task_type: "shell".into(),
        parameters: json!({"cmd": "true"}),
        mode: Mode::Noop,
        debug: false,
        timeout_ms: 300_000,
        secrets: vec!["s".into()],
        trace: None,
    };
    let messages = [
        ToAgent::Welcome { heartbeat_ms: 5000 },
        ToAgent::Start(attempt),
        ToAgent::Cancel { key: KEY, generation: Generation(3), how: CancelMode::Now },
        ToAgent::Acknowledge { keys: vec![KEY] },
        ToAgent::RunEnded { run: RunId(7) },
        ToAgent::Check(CheckRequest {
            id: "a/1".into(),
            node: "1".into(),
            timeout_ms: 30_000,
            items: vec![CheckItem { task_type: "file".into(), parameters: json!({"path": "/etc/a"}) }],
            secrets: vec!["s".into()],
        }),
    ];
    let lines: Vec<String> = messages.iter().map(encode_to_agent).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn messages_from_agents() {
    let finished =
        |end: ResultKind| AttemptResult { key: KEY, at: Micros(5), end, report: TaskReport::default() };
    let report = TaskReport {
        summary: JsonMap::from_iter([("changed".to_owned(), json!(1))]),
        changed: Some(true),
        diff: vec![
            HostDifference::value("/etc/a", "mode", None, Some("0644".to_owned())),
            HostDifference::text("/etc/a", "content", "-a\n+b\n".to_owned()),
        ],
    };
    let messages = [
        FromAgent::Hello(Hello {
            node: "1".into(),
            version: "0.1.0".into(),
            running: vec![KEY],
            finished: vec![AttemptResult { report, ..finished(ResultKind::Succeeded) }],
            runs: vec![RunId(7)],
            facts: JsonMap::from_iter([("hostname".to_owned(), json!("a"))]),
            journal_id: Some("0af7".to_owned()),
        }),
        FromAgent::Heartbeat,
        FromAgent::Facts(JsonMap::new()),
        FromAgent::Started { key: KEY, at: Micros(4) },
        FromAgent::Output { key: KEY, stream: Stream::Err, offset: 10, text: "hi\n".into() },
        FromAgent::Finished(finished(ResultKind::Failed { message: "exit code 1".into() })),
        FromAgent::Finished(finished(ResultKind::TimedOut)),
        FromAgent::Finished(finished(ResultKind::Refused { message: "no disk".into() })),
        FromAgent::Checked(CheckReport {
            id: "a/1".into(),
            results: vec![
                CheckOutcome::Compared { diff: vec![] },
                CheckOutcome::Compared {
                    diff: vec![HostDifference::value("/etc/a", "mode", None, Some("0644".to_owned()))],
                },
                CheckOutcome::Failed { message: "no such user".into() },
            ],
        }),
    ];
    let lines: Vec<String> = messages.iter().map(encode_from_agent).collect();
    insta::assert_snapshot!(lines.join("\n"));
}
