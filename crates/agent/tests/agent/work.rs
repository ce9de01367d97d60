//! Execution of attempts.

use std::time::Duration;

use serde_json::json;
use stoker_engine::session::{AttemptKey, FromAgent, Mode, ResultKind, ToAgent};
use stoker_model::RunId;
use stoker_testkit::TempFolder;

use super::rig::{Rig, attempt, is_alive, key, settings, shell};

#[tokio::test]
async fn attempt_reports_start_output_and_end() {
    let folder = TempFolder::new();
    let mut rig = Rig::start(settings(&folder)).await;
    assert_eq!(rig.hello.node.as_str(), "1");
    assert!(rig.hello.facts.contains_key("hostname"));
    rig.begin(shell(1, "echo one; echo two >&2; exit 3")).await;
    let mut started = false;
    let finished = loop {
        match rig.next().await {
            FromAgent::Started { key: of, .. } => started = of == key(1),
            FromAgent::Finished(finished) => break finished,
            FromAgent::Output { text, .. } => assert!(["one\n", "two\n"].contains(&text.as_str()), "{text}"),
            other => panic!("{other:?}"),
        }
    };
    assert!(started, "start is reported before the end");
    assert_eq!(finished.end, ResultKind::Failed { message: "exit code 3: two".to_owned() });
    rig.stop().await;
}

#[tokio::test]
async fn processes_inherit_the_trace_context() {
    let folder = TempFolder::new();
    let mut rig = Rig::start(settings(&folder)).await;
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    for (instance, trace, printed) in [(1, Some(trace), trace), (2, None, "none")] {
        let mut traced = shell(instance, "echo ${TRACEPARENT-none}");
        traced.trace = trace.map(str::to_owned);
        rig.begin(traced).await;
        assert_eq!(rig.finished(key(instance)).await.1.trim(), printed);
    }
    rig.stop().await;
}

#[tokio::test]
async fn redelivered_attempt_is_executed_once() {
    let folder = TempFolder::new();
    let file = folder.file("lines");
    let mut rig = Rig::start(settings(&folder)).await;
    let line = shell(1, &format!("echo x >> {}", file.display()));
    for _ in 0..3 {
        rig.begin(line.clone()).await;
    }
    assert_eq!(rig.finished(key(1)).await.0.end, ResultKind::Succeeded);
    rig.begin(line.clone()).await;
    assert_eq!(rig.finished(key(1)).await.0.end, ResultKind::Succeeded);
    rig.send(ToAgent::Acknowledge { keys: vec![key(1)] }).await;
    assert!(matches!(rig.end_of(line).await, ResultKind::Refused { .. }));
    assert_eq!(std::fs::read_to_string(file).unwrap(), "x\n");
    rig.stop().await;
}

#[tokio::test]
async fn timeout_and_cancel_end_all_processes() {
    let folder = TempFolder::new();
    let mut rig = Rig::start(settings(&folder)).await;
    let stubborn =
        "trap '' TERM; (setsid sleep 1000 & echo $!); echo $$; echo ready; while :; do sleep 1000; done";
    let mut timed = shell(1, stubborn);
    timed.timeout_ms = 700;
    rig.begin(timed).await;
    let (finished, printed) = rig.finished(key(1)).await;
    assert_eq!(finished.end, ResultKind::TimedOut);
    let pids: Vec<&str> = printed.lines().filter(|line| *line != "ready").collect();
    assert_eq!(pids.len(), 2, "{printed}");
    assert!(pids.iter().all(|pid| !is_alive(pid)), "{pids:?}");

    rig.begin(shell(2, stubborn)).await;
    rig.printed(key(2), "ready").await;
    rig.cancel(2).await;
    assert_eq!(rig.finished(key(2)).await.0.end, ResultKind::Cancelled);
    // Cancelling an attempt that has not started prevents a later start.
    rig.cancel(3).await;
    assert_eq!(rig.finished(key(3)).await.0.end, ResultKind::Cancelled);
    assert_eq!(rig.end_of(shell(3, "echo no")).await, ResultKind::Cancelled);
    // The agent still works.
    assert_eq!(rig.end_of(shell(4, "true")).await, ResultKind::Succeeded);
    rig.stop().await;
}

#[tokio::test]
async fn retry_cancels_the_previous_attempt() {
    let folder = TempFolder::new();
    let mut rig = Rig::start(settings(&folder)).await;
    rig.begin(shell(1, "echo ready; sleep 1000")).await;
    rig.printed(key(1), "ready").await;
    let second = AttemptKey { attempt: 2, ..key(1) };
    let mut again = shell(1, "echo again");
    again.key = second;
    rig.begin(again).await;
    assert_eq!(rig.finished(key(1)).await.0.end, ResultKind::Cancelled);
    let (finished, printed) = rig.finished(second).await;
    assert_eq!((finished.end, printed.as_str()), (ResultKind::Succeeded, "again\n"));
    rig.stop().await;
}

#[tokio::test]
async fn output_is_bounded_and_masked_and_attempts_run_concurrently() {
    let folder = TempFolder::new();
    let mut rig = Rig::start(settings(&folder)).await;
    let mut flood =
        shell(1, "echo pass-hunter2; head -c 30000000 /dev/zero; echo; echo last; echo hunter2 >&2; exit 1");
    flood.secrets = vec!["hunter2".to_owned()];
    rig.begin(flood).await;
    let (finished, printed) = rig.finished(key(1)).await;
    assert_eq!(finished.end, ResultKind::Failed { message: "exit code 1: ***".to_owned() });
    assert!(printed.starts_with("pass-***\n") && printed.ends_with("last\n"));
    assert!(printed.len() < 600_000, "{}", printed.len());
    for instance in 2..202 {
        rig.begin(shell(instance, "/bin/true")).await;
    }
    let mut n_running = 200;
    while n_running > 0 {
        if let FromAgent::Finished(finished) = rig.next().await {
            assert_eq!(finished.end, ResultKind::Succeeded);
            n_running -= 1;
        }
    }
    rig.stop().await;
}

#[tokio::test]
async fn invalid_attempts_are_refused_with_a_reason() {
    let folder = TempFolder::new();
    let mut rig = Rig::start(settings(&folder)).await;
    let refusal = |end: ResultKind| match end {
        ResultKind::Refused { message } => message,
        other => panic!("{other:?}"),
    };
    assert!(
        refusal(rig.end_of(attempt(1, "dance", json!({}))).await)
            .contains("does not support the task type `dance`")
    );
    let message = refusal(rig.end_of(attempt(2, "shell", json!({}))).await);
    assert_eq!(message, "Missing a required parameter cmd");
    assert!(
        refusal(rig.end_of(attempt(3, "erase_node", json!({}))).await).contains("--hook erase_node=PATH")
    );
    let mut noop = shell(4, &format!("touch {}", folder.file("made").display()));
    noop.mode = Mode::Noop;
    assert_eq!(rig.end_of(noop).await, ResultKind::Succeeded);
    assert!(!folder.file("made").exists());
    rig.stop().await;
}

#[tokio::test]
async fn running_attempts_survive_a_reconnect() {
    let folder = TempFolder::new();
    let mut rig = Rig::start(settings(&folder)).await;
    let gate = folder.file("gate");
    rig.begin(shell(
        1,
        &format!("echo ready; while ! [ -e {} ]; do sleep 0.01; done; echo done", gate.display()),
    ))
    .await;
    rig.printed(key(1), "ready").await;
    rig.reconnect().await;
    assert_eq!(rig.hello.running, [key(1)]);
    rig.reconnect().await;
    std::fs::write(gate, "").unwrap();
    assert_eq!(rig.finished(key(1)).await.0.end, ResultKind::Succeeded);
    rig.reconnect().await;
    assert_eq!(rig.hello.finished.len(), 1, "unacknowledged results are resent");
    rig.send(ToAgent::Acknowledge { keys: vec![key(1)] }).await;
    rig.send(ToAgent::RunEnded { run: RunId(1) }).await;
    // Messages are processed in order: when this attempt ends, the messages above are processed.
    rig.end_of(attempt_of_another_run()).await;
    rig.reconnect().await;
    assert_eq!(rig.hello.runs, [RunId(2)]);
    rig.stop().await;
}

fn attempt_of_another_run() -> stoker_engine::session::Attempt {
    let mut other = shell(1, "true");
    other.key.run = RunId(2);
    other
}

#[tokio::test]
async fn heartbeat_interval_is_set_by_the_server() {
    let folder = TempFolder::new();
    let mut rig = Rig::start(settings(&folder)).await;
    rig.send(ToAgent::Welcome { heartbeat_ms: 60 }).await;
    let counting = async {
        for _ in 0..3 {
            assert_eq!(rig.next().await, FromAgent::Heartbeat);
        }
    };
    tokio::time::timeout(Duration::from_secs(5), counting).await.unwrap();
    rig.stop().await;
}
