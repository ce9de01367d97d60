//! Restarts of an agent: recovery from its journal.

use std::os::unix::fs::PermissionsExt as _;

use stoker_engine::session::agent::Record;
use stoker_engine::session::{Generation, ResultKind, ToAgent};
use stoker_testkit::TempFolder;
use stoker_wire::record::JournalEntry;

use super::rig::{Rig, attempt, is_alive, key, settings, shell};

#[tokio::test]
async fn unacknowledged_results_survive_a_restart() {
    let folder = TempFolder::new();
    let mut rig = Rig::start(settings(&folder)).await;
    assert_eq!(rig.end_of(shell(1, "true")).await, ResultKind::Succeeded);
    assert!(matches!(rig.end_of(shell(2, "false")).await, ResultKind::Failed { .. }));
    rig.send(ToAgent::Acknowledge { keys: vec![key(2)] }).await;
    rig.end_of(shell(3, "true")).await;
    rig.stop().await;
    let rig = Rig::start(settings(&folder)).await;
    let ended: Vec<_> =
        rig.hello.finished.iter().map(|finished| (finished.key, finished.end.clone())).collect();
    assert_eq!(ended, [(key(1), ResultKind::Succeeded), (key(3), ResultKind::Succeeded)]);
    rig.stop().await;
}

#[tokio::test]
async fn stopped_agent_ends_its_processes_and_the_next_reports_them() {
    let folder = TempFolder::new();
    let mut rig = Rig::start(settings(&folder)).await;
    let file = folder.file("pid");
    rig.begin(shell(
        1,
        &format!("trap '' TERM; echo $$ > {}; echo ready; sleep 1000; sleep 1000", file.display()),
    ))
    .await;
    rig.printed(key(1), "ready").await;
    rig.stop().await;
    let pid = std::fs::read_to_string(file).unwrap();
    assert!(!is_alive(pid.trim()));
    let mut rig = Rig::start(settings(&folder)).await;
    assert_eq!(rig.end_after_restart(1).await, ResultKind::Interrupted);
    rig.stop().await;
}

/// Simulates a killed agent: a journal with an accepted attempt, and its orphaned process.
#[tokio::test]
async fn orphaned_processes_of_a_killed_agent_are_ended() {
    let folder = TempFolder::new();
    let settings = settings(&folder);
    let state = stoker_agent::StateFolder::open(&settings.state).unwrap();
    let mut journal = stoker_agent::JournalFile::open(&state.journal_path()).unwrap().file;
    let accepted = JournalEntry::Session(Record::Accepted { key: key(1), generation: Generation(1) });
    journal.append(&[accepted], true).unwrap();
    drop((journal, state));
    let mut orphan = std::process::Command::new("sleep")
        .arg("1000")
        .env("STOKER_ATTEMPT", format!("{}@{}", key(1), settings.state.display()))
        .spawn()
        .unwrap();
    let mut stranger = std::process::Command::new("sleep")
        .arg("1000")
        .env("STOKER_ATTEMPT", format!("{}@/elsewhere", key(1)))
        .spawn()
        .unwrap();
    let mut rig = Rig::start(settings).await;
    assert_eq!(rig.end_after_restart(1).await, ResultKind::Interrupted);
    assert!(!orphan.wait().unwrap().success());
    assert!(stranger.try_wait().unwrap().is_none(), "processes of other agents are not ended");
    stranger.kill().unwrap();
    stranger.wait().unwrap();
    rig.stop().await;
}

#[tokio::test]
async fn reboot_is_reported_after_the_restart() {
    let folder = TempFolder::new();
    let mut settings = settings(&folder);
    settings.boot_id = folder.file("boot_id");
    std::fs::write(&settings.boot_id, "first").unwrap();
    settings.hooks.insert("reboot".to_owned(), "/bin/true".into());
    let rig = Rig::start(settings.clone()).await;
    rig.begin(attempt(1, "reboot", serde_json::json!({}))).await;
    // The node goes down some time after the command; the agent ends first.
    let journal = settings.state.join("journal");
    while !std::fs::read(&journal).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains("rebooting")) {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    rig.stop().await;
    // An agent that starts before the reboot waits for it.
    let rig = Rig::start(settings.clone()).await;
    assert_eq!(rig.hello.running, [key(1)]);
    rig.stop().await;
    std::fs::write(&settings.boot_id, "second").unwrap();
    let mut rig = Rig::start(settings).await;
    assert_eq!(rig.end_after_restart(1).await, ResultKind::Succeeded);
    rig.stop().await;
}

#[tokio::test]
async fn journal_is_private_and_bounded() {
    let folder = TempFolder::new();
    let settings = settings(&folder);
    let mut rig = Rig::start(settings.clone()).await;
    let journal = settings.state.join("journal");
    let mut largest = 0;
    for run in 1..=300 {
        let mut attempt = shell(1, "/bin/true");
        attempt.key.run = stoker_model::RunId(run);
        let key = attempt.key;
        assert_eq!(rig.end_of(attempt).await, ResultKind::Succeeded);
        rig.send(ToAgent::Acknowledge { keys: vec![key] }).await;
        rig.send(ToAgent::RunEnded { run: key.run }).await;
        largest = largest.max(std::fs::metadata(&journal).unwrap().len());
    }
    assert!(largest < 150_000, "{largest} bytes");
    assert_eq!(std::fs::metadata(&journal).unwrap().permissions().mode() & 0o777, 0o600);
    // Messages are processed in order: when this attempt ends, the messages above are processed.
    let mut last = shell(1, "/bin/true");
    last.key.run = stoker_model::RunId(1000);
    rig.end_of(last).await;
    rig.stop().await;
    let rig = Rig::start(settings).await;
    assert_eq!(rig.hello.runs, [stoker_model::RunId(1000)]);
    rig.stop().await;
}

#[tokio::test]
async fn hello_identifies_the_journal() {
    let folder = TempFolder::new();
    let settings = settings(&folder);
    let mut rig = Rig::start(settings.clone()).await;
    let first = rig.hello.journal_id.clone().expect("the journal has an id");
    rig.reconnect().await;
    assert_eq!(rig.hello.journal_id.as_ref(), Some(&first));
    rig.stop().await;
    let rig = Rig::start(settings.clone()).await;
    assert_eq!(rig.hello.journal_id.as_ref(), Some(&first));
    rig.stop().await;
    std::fs::remove_file(settings.state.join("journal")).unwrap();
    let rig = Rig::start(settings).await;
    assert!(rig.hello.journal_id.as_ref().is_some_and(|id| *id != first));
    rig.stop().await;
}
