//! An agent that is started over SSH, on a private server of this machine.

use std::fs;

use stoker_agent::ssh::{SshTarget, connect};
use stoker_engine::session::{End, FromAgent, ToAgent};

use super::harness::{patient, shell, stoker};
use super::sshd::{Sshd, is_skipped};

fn target_of(sshd: &Sshd, command: Vec<String>) -> SshTarget {
    let mut target = SshTarget::new("127.0.0.1".to_owned(), command);
    target.port = Some(sshd.port);
    target.options = sshd.options();
    target
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_messages_go_over_ssh() {
    if is_skipped() {
        return;
    }
    let sshd = Sshd::start();
    let state = sshd.folder.file("a state").display().to_string();
    let program = stoker().display().to_string();
    let command = [program.as_str(), "agent", "--stdio", "--node", "5", "--state", &state].map(str::to_owned);
    let target = target_of(&sshd, command.to_vec());
    // It may take a moment until the server listens.
    let (mut connection, hello) = patient(async {
        loop {
            let mut connection = connect(&target).unwrap();
            match connection.receive.recv().await {
                Some(FromAgent::Hello(hello)) => return (connection, hello),
                Some(other) => panic!("{other:?}"),
                None => {
                    let why = connection.ended.await.unwrap();
                    assert!(
                        why.contains("Connection refused"),
                        "{why}\n{}",
                        fs::read_to_string(sshd.folder.file("log")).unwrap_or_default()
                    );
                }
            }
        }
    })
    .await;
    assert_eq!(hello.node, "5");
    connection.send.send(ToAgent::Start(shell(1, "echo over ssh"))).await.unwrap();
    let mut printed = String::new();
    loop {
        match patient(connection.receive.recv()).await.unwrap() {
            FromAgent::Output { text, .. } => printed.push_str(&text),
            FromAgent::Finished(finished) => {
                assert_eq!(finished.end, End::Succeeded);
                break;
            }
            _ => {}
        }
    }
    assert_eq!(printed, "over ssh\n");
    // A connection that breaks does not end what runs; the next agent waits for it, and tells.
    connection.send.send(ToAgent::Start(shell(2, "sleep 0.5"))).await.unwrap();
    while !matches!(patient(connection.receive.recv()).await.unwrap(), FromAgent::Started { .. }) {}
    drop(connection);
    let mut connection = connect(&target).unwrap();
    let Some(FromAgent::Hello(hello)) = patient(connection.receive.recv()).await else { panic!() };
    let ends: Vec<End> = hello.finished.into_iter().map(|finished| finished.end).collect();
    assert_eq!(ends, [End::Succeeded, End::Succeeded]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_ssh_complains_about_is_told() {
    if is_skipped() {
        return;
    }
    let mut target = SshTarget::new("127.0.0.1".to_owned(), vec!["true".to_owned()]);
    target.port = Some(1);
    let mut connection = connect(&target).unwrap();
    assert_eq!(patient(connection.receive.recv()).await, None);
    let why = patient(connection.ended).await.unwrap();
    assert!(why.contains("Connection refused"), "{why}");
    target.ssh = "/no/such/ssh".into();
    assert!(connect(&target).unwrap_err().to_string().contains("is an SSH client installed?"));
}
