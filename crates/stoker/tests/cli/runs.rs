//! Runs: start, follow, control, history.

use serde_json::Value as Json;

use crate::fixture::CliFixture;
use crate::screen::Screen;

#[test]
fn failed_run_reports_failed_tasks() {
    let cli = CliFixture::with_cluster();
    let successful_run = cli.run("apply --env 1 --yes --quiet").ok();
    let logs = cli.run(&format!("run logs {}", successful_run.trim()));
    assert!(logs.err.contains("no failed tasks; pass `--all`"), "{}", logs.err);
    assert_eq!(logs.ok(), "");
    cli.write(
        "tasks.yaml",
        "- id: break\n  type: shell\n  version: 2.1.0\n  role: web\n  parameters: {cmd: 'echo to the log; echo sorry >&2; exit 3', retries: 0}\n",
    );
    cli.run("graph upload --env 1 --type bad --file tasks.yaml").ok();
    cli.run("graph execute --env 1 --type nothing").fails(1, &["nothing"]);
    cli.run("graph execute --env 1 --type bad --node 9").fails(1, &["9"]);
    let run = cli.run("graph execute --env 1 --type bad --node 2 --quiet").ok();
    let output = cli.run(&format!("run watch {run}"));
    assert!(output.out.contains("node 2: break failed"), "{}", output.out);
    assert!(output.out.contains("failed task"), "{}", output.out);
    output.fails(1, &["failed", "stoker run logs"]);
    let details = cli.run(&format!("run show {run}")).ok();
    assert!(details.contains("bad") && details.contains("break"), "{details}");
    let logs = cli.run(&format!("run logs {run}"));
    assert!(logs.err.contains("break on node 2: error, "), "{}", logs.err);
    assert_eq!(logs.ok(), "  to the log\n! sorry\n");
    let logs = cli.run(&format!("run logs {} -o json", run.trim())).json();
    assert!(logs[0]["status"] == "error" && logs[0]["reason"].is_string(), "{logs}");
    assert_eq!(cli.run(&format!("run logs {} --search sorry", run.trim())).ok(), "! sorry\n");
    cli.run(&format!("run logs {} --task other", run.trim())).fails(1, &["`other` was not executed"]);
    let retry = cli.run(&format!("run retry {} --follow", run.trim()));
    retry.fails(1, &["failed"]);
    cli.run(&format!("run retry {} --from other", run.trim())).fails(1, &["contains `other`"]);
    cli.run(&format!("run retry {} --from break/2 --follow", run.trim())).fails(1, &["failed"]);
    cli.run("graph execute --env 1 --type bad --at-stages jump").fails(2, &["jump"]);
    let history = cli.run(&format!("history show {} -o json", run.trim())).json();
    assert_eq!((&history[0]["task_name"], &history[0]["status"]), (&"break".into(), &"error".into()));
    let csv = cli.run(&format!("history show {} --csv", run.trim())).ok();
    assert!(csv.starts_with("task_name,node_id,status") && csv.contains("break,2,error"), "{csv}");
    cli.run("run watch 99").fails(1, &["run not found"]);
    cli.run(&format!("run delete {}", run.trim())).ok();
}

#[test]
fn run_is_paused_resumed_and_stopped() {
    let cli = CliFixture::with_cluster();
    cli.write(
        "tasks.yaml",
        "- id: wait\n  type: shell\n  version: 2.1.0\n  role: web\n  parameters: {cmd: 'sleep 600'}\n\
         - {id: then, type: shell, version: 2.1.0, role: web, requires: [wait], parameters: {cmd: x}}\n",
    );
    cli.run("graph upload --env 1 --type slow --file tasks.yaml").ok();
    let started = cli.run("graph execute --env 1 --type slow --node 2 --output json").json();
    let run = started["id"].as_i64().unwrap();
    cli.run("env deploy 1").fails(1, &["already"]);
    while cli.run(&format!("history show {run} --status running -o json")).json() == Json::Array(Vec::new()) {
    }
    cli.run(&format!("run pause {run}")).ok();
    cli.run(&format!("run resume {run}")).ok();
    assert_eq!(cli.run("run list --status running --quiet").ok(), format!("{run}\n"));
    cli.run(&format!("run stop {run} --now")).ok();
    let err = cli.run(&format!("run watch {run} --quiet")).fails(1, &["was stopped", "run retry"]);
    assert!(!err.contains("failed"), "{err}");
    let output = cli.run(&format!("run watch {run}")).out;
    assert!(
        output.contains("wait was stopped") && output.contains("1 task not started: the run was stopped"),
        "{output}"
    );
    assert!(!output.contains("failed"), "{output}");
    cli.run("env stop 1").fails(1, &[]);
    cli.run("env reset 1").fails(1, &["not confirmed"]);
    cli.run("env reset 1 --yes").ok();
    cli.run("env deploy 1 --follow").ok();
    cli.run("env delete 1").fails(1, &["is operational", "not confirmed"]);
}

/// A run succeeds despite failed nodes within the tolerance of their group, and reports them.
#[test]
fn tolerated_failures_are_reported() {
    let cli = CliFixture::with_cluster();
    let cmd = "echo sorry >&2; exit 3";
    cli.write(
        "tasks.yaml",
        &format!(
            "- {{id: web, type: group, version: 2.1.0, role: web, fault_tolerance: 1}}\n\
             - {{id: break, type: shell, version: 2.1.0, role: web, parameters: {{cmd: '{cmd}', retries: 0}}}}\n"
        ),
    );
    cli.run("graph upload --env 1 --type frail --file tasks.yaml").ok();
    let output = cli.run("graph execute --env 1 --type frail --node 2 --follow").ok();
    for word in ["failed task", "break", "succeeded", "1 node failed"] {
        assert!(output.contains(word), "{word}: {output}");
    }
}

/// Progress on a terminal: lines are redrawn in place.
#[test]
fn terminal_shows_a_line_per_node() {
    let cli = CliFixture::with_cluster();
    cli.run("env deploy 1 --follow").ok();
    cli.run("settings set --env 1 common.debug=true").ok();
    for columns in [80, 160] {
        for (name, words) in [("watch", ["run", "watch", "1"]), ("plan", ["plan", "show", "2"])] {
            if name == "plan" && columns == 80 {
                cli.run("plan --env 1 --quiet").ok();
            }
            let screen = Screen::record(cli.command(&words, columns), columns);
            insta::assert_snapshot!(format!("{name}-{columns}"), screen.without_times());
        }
    }
    // Intermediate progress is overwritten, and the final lines appear once.
    for (columns, debug) in [(80, true), (160, false)] {
        cli.run(&format!("settings set --env 1 common.debug={debug}")).ok();
        let screen = Screen::record(cli.command(&["apply", "--env", "1", "--yes"], columns), columns);
        insta::assert_snapshot!(format!("apply-{columns}"), screen.without_times());
    }
}
