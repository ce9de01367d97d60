//! `stoker agent` as a process.

use std::process::{Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use stoker_engine::session::{FromAgent, ResultKind, ToAgent};
use stoker_testkit::TempFolder;

use super::harness::{Server, TOKEN, shell, stoker, with_timeout};

#[tokio::test(flavor = "multi_thread")]
async fn agent_joins_once_executes_tasks_and_stops_on_sigterm() {
    let folder = TempFolder::new();
    let mut server = Server::start().await;
    let mut agent = server.agent(&folder);
    let mut session = server.accept().await;
    assert!(session.send(&ToAgent::Start(shell(1, "echo ${STOKER_JOIN_TOKEN-hidden}; env"))).await);
    let mut task_output = String::new();
    let finished = loop {
        match session.next().await.unwrap() {
            FromAgent::Output { text, .. } => task_output.push_str(&text),
            FromAgent::Finished(finished) => break finished,
            _ => {}
        }
    };
    assert_eq!(finished.end, ResultKind::Succeeded);
    assert!(task_output.starts_with("hidden\n"));
    assert!(!task_output.contains(TOKEN), "the token is hidden from tasks");
    kill(Pid::from_raw(agent.id().unwrap() as i32), Signal::SIGTERM).unwrap();
    assert!(with_timeout(agent.wait()).await.unwrap().success());
    // After a restart, the agent does not join again and resends the unacknowledged result.
    let mut agent = server.agent(&folder);
    let mut session = server.accept().await;
    let Some(FromAgent::Hello(hello)) = session.next().await else { panic!() };
    assert_eq!((hello.node.as_str(), hello.finished.len()), ("5", 1));
    assert_eq!(server.n_joined, 1);
    // A second agent in the same folder is rejected.
    let output =
        agent_output(&["--server", &server.url(), "--state", &folder.file("state").display().to_string()]);
    assert_eq!(output.0, 5);
    assert!(output.1.contains("in use by another agent"), "{}", output.1);
    agent.kill().await.unwrap();
}

fn agent_output(arguments: &[&str]) -> (i32, String) {
    let output = Command::new(stoker()).arg("agent").args(arguments).stdin(Stdio::null()).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn invalid_usage_is_explained() {
    let folder = TempFolder::new();
    let state = folder.file("state").display().to_string();
    let cases: &[(&[&str], i32, &str)] = &[
        (&[], 2, "--server URL"),
        (&["--stdio"], 2, "--node"),
        (&["--stdio", "--node", "1", "--server", "http://a"], 2, "cannot be used with"),
        (&["--server", "http://a", "--hook", "dance=/x"], 2, "unknown hook `dance`"),
        (&["--server", "a:8000", "--state", &state], 5, "expected `https://"),
        (&["--server", "http://127.0.0.1:1", "--state", &state], 5, "--join-token"),
        (&["--server", "http://127.0.0.1:1", "--state", "/proc/no/such"], 5, "cannot create `/proc/no/such`"),
    ];
    for (arguments, code, expect) in cases {
        let (exit_code, text) = agent_output(arguments);
        assert_eq!(exit_code, *code, "{arguments:?}: {text}");
        assert!(text.contains(expect), "{arguments:?}: {text}");
    }
}
