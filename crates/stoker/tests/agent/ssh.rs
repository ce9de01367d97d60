//! An agent started over SSH, with a private SSH server on this machine.

use std::fs;

use stoker_agent::ssh::{SshTarget, start_agent};
use stoker_engine::session::{FromAgent, ResultKind, ToAgent};

use super::harness::{shell, stoker, with_timeout};
use super::sshd::{Sshd, is_skipped};

fn target_of(sshd: &Sshd, command: Vec<String>) -> SshTarget {
    let mut target = SshTarget::new("127.0.0.1".to_owned(), command);
    target.port = Some(sshd.port);
    target.options = sshd.options();
    target
}

#[tokio::test(flavor = "multi_thread")]
async fn session_over_ssh_survives_a_reconnect() {
    if is_skipped() {
        return;
    }
    let sshd = Sshd::start();
    let state = sshd.folder.file("a state").display().to_string();
    let program = stoker().display().to_string();
    let command = [program.as_str(), "agent", "--stdio", "--node", "5", "--state", &state].map(str::to_owned);
    let target = target_of(&sshd, command.to_vec());
    // Retry until the SSH server listens.
    let (mut connection, hello) = with_timeout(async {
        loop {
            let mut connection = start_agent(&target).unwrap();
            match connection.receive.recv().await {
                Some(FromAgent::Hello(hello)) => return (connection, hello),
                Some(other) => panic!("{other:?}"),
                None => {
                    let error = connection.exit_reason.await.unwrap();
                    assert!(
                        error.contains("Connection refused"),
                        "{error}\n{}",
                        fs::read_to_string(sshd.folder.file("log")).unwrap_or_default()
                    );
                }
            }
        }
    })
    .await;
    assert_eq!(hello.node.as_str(), "5");
    connection.send.send(ToAgent::Start(shell(1, "echo over ssh"))).await.unwrap();
    let mut task_output = String::new();
    loop {
        match with_timeout(connection.receive.recv()).await.unwrap() {
            FromAgent::Output { text, .. } => task_output.push_str(&text),
            FromAgent::Finished(finished) => {
                assert_eq!(finished.end, ResultKind::Succeeded);
                break;
            }
            _ => {}
        }
    }
    assert_eq!(task_output, "over ssh\n");
    // A lost connection does not end running tasks; the next agent waits for them and reports their results.
    connection.send.send(ToAgent::Start(shell(2, "sleep 0.5"))).await.unwrap();
    while !matches!(with_timeout(connection.receive.recv()).await.unwrap(), FromAgent::Started { .. }) {}
    drop(connection);
    let mut connection = start_agent(&target).unwrap();
    let Some(FromAgent::Hello(hello)) = with_timeout(connection.receive.recv()).await else { panic!() };
    let ends: Vec<ResultKind> = hello.finished.into_iter().map(|finished| finished.end).collect();
    assert_eq!(ends, [ResultKind::Succeeded, ResultKind::Succeeded]);
}

#[tokio::test(flavor = "multi_thread")]
async fn ssh_errors_are_reported() {
    if is_skipped() {
        return;
    }
    let mut target = SshTarget::new("127.0.0.1".to_owned(), vec!["true".to_owned()]);
    target.port = Some(1);
    let mut connection = start_agent(&target).unwrap();
    assert_eq!(with_timeout(connection.receive.recv()).await, None);
    let error = with_timeout(connection.exit_reason).await.unwrap();
    assert!(error.contains("Connection refused"), "{error}");
    target.ssh = "/no/such/ssh".into();
    assert!(start_agent(&target).unwrap_err().to_string().contains("is an SSH client installed?"));
}
