//! Termination of tasks together with all their processes.

use std::time::{Duration, Instant};

use stoker_tasks::host::real::{ProcessTree, terminate_process_tree};
use stoker_tasks::{FailureCause, StopReason};

use super::Bench;

/// Waits until the file contains this many PIDs.
async fn pids(bench: &Bench, n_lines: usize) -> Vec<String> {
    loop {
        let text = std::fs::read_to_string(bench.folder.file("pids")).unwrap_or_default();
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        if lines.len() >= n_lines {
            return lines;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

async fn assert_terminates(script: &str, n_pids: usize) {
    let bench = Bench::new();
    let script = script.replace("PIDS", &bench.folder.file("pids").display().to_string());
    let started = Instant::now();
    let outcome = bench.run_and_stop(&script, StopReason::TimedOut).await;
    assert_eq!(outcome.unwrap_err().cause, FailureCause::Stopped(StopReason::TimedOut));
    assert!(started.elapsed() < Duration::from_secs(20), "{script} took {:?}", started.elapsed());
    for pid in pids(&bench, n_pids).await {
        assert!(!is_alive(&pid), "process {pid} of `{script}` is still running");
    }
}

#[tokio::test]
async fn program_that_handles_sigterm() {
    assert_terminates("echo $$ > PIDS; echo ready; sleep 1000", 1).await;
}

#[tokio::test]
async fn program_that_ignores_sigterm() {
    assert_terminates("trap '' TERM; echo $$ > PIDS; echo ready; while :; do sleep 1000; done", 1).await;
}

#[tokio::test]
async fn children_that_ignore_signals() {
    assert_terminates("(trap '' TERM INT HUP; echo $BASHPID >> PIDS; while :; do sleep 1000; done) & echo $$ >> PIDS; sleep 0.3; echo ready; wait", 2).await;
}

#[tokio::test]
async fn daemons_in_separate_sessions() {
    let daemon = "setsid bash -c \"trap '' TERM; (echo \\$BASHPID >> PIDS; exec sleep 1000) & echo \\$\\$ >> PIDS; exec sleep 1000\"";
    assert_terminates(&format!("( {daemon} & ) ; sleep 0.3; echo $$ >> PIDS; echo ready; sleep 1000"), 3)
        .await;
}

/// The child has no marker and is recognized only through its parent, which exits first.
#[tokio::test]
async fn child_without_marker_that_ignores_sigterm() {
    let child = "env -i setsid bash -c \"trap '' TERM; echo \\$\\$ >> PIDS; while :; do sleep 1000; done\"";
    assert_terminates(&format!("{child} & echo $$ >> PIDS; sleep 0.3; echo ready; wait"), 2).await;
}

#[tokio::test]
async fn stopped_program() {
    assert_terminates("echo $$ > PIDS; sleep 1000 & echo ready; kill -STOP $$", 1).await;
}

#[tokio::test]
async fn program_with_endless_output() {
    assert_terminates("echo $$ > PIDS; echo ready; yes", 1).await;
}

#[tokio::test]
async fn program_that_keeps_forking() {
    assert_terminates(
        "trap '' TERM; echo $$ > PIDS; echo ready; while :; do sleep 1000 & sleep 0.01; done",
        1,
    )
    .await;
}

#[tokio::test]
async fn daemon_of_a_successful_task_survives() {
    let bench = Bench::new();
    let file = bench.folder.file("pids").display().to_string();
    let started = Instant::now();
    bench.run("shell", serde_json::json!({"cmd": format!("sleep 1000 & echo $! > {file}")})).await.unwrap();
    assert!(started.elapsed() < Duration::from_secs(10), "open output pipes must not delay the task");
    let pid = pids(&bench, 1).await.remove(0);
    assert!(is_alive(&pid));
    // Cleanup after a crash has only the marker.
    let family = ProcessTree { leaders: Vec::new(), marker: bench.mark() };
    assert!(family.is_alive().await);
    let stranger = ProcessTree { leaders: Vec::new(), marker: format!("{}x", bench.mark()) };
    assert_eq!(terminate_process_tree(stranger, Duration::ZERO).await, 0);
    assert!(is_alive(&pid), "a different marker belongs to a different attempt");
    assert_eq!(terminate_process_tree(family, Duration::from_millis(100)).await, 0);
    assert!(!is_alive(&pid));
}

#[tokio::test]
async fn stop_before_start_prevents_execution() {
    let bench = Bench::new();
    let (stopper, stop) = stoker_tasks::StopSender::new();
    stopper.stop(StopReason::Cancelled);
    stopper.stop(StopReason::TimedOut);
    let file = bench.folder.file("pids");
    let outcome = bench
        .run_until("shell", serde_json::json!({"cmd": format!("echo > {}", file.display())}), stop)
        .await;
    assert_eq!(outcome.unwrap_err().cause, FailureCause::Stopped(StopReason::Cancelled));
    assert!(!file.exists());
}
