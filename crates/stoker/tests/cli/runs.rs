//! Runs: started, watched, steered, remembered.

use serde_json::Value as Json;

use crate::desk::Desk;
use crate::screen::Screen;

#[test]
fn a_run_that_fails_is_told_with_what_failed() {
    let desk = Desk::with_cluster();
    let good = desk.run("apply --env 1 --yes --quiet").ok();
    let silent = desk.run(&format!("run logs {}", good.trim()));
    assert!(silent.err.contains("nothing failed; `--all` shows"), "{}", silent.err);
    assert_eq!(silent.ok(), "");
    desk.write(
        "tasks.yaml",
        "- id: break\n  type: shell\n  version: 2.1.0\n  role: web\n  parameters: {cmd: 'echo to the log; echo sorry >&2; exit 3', retries: 0}\n",
    );
    desk.run("graph upload --env 1 --type bad --file tasks.yaml").ok();
    desk.run("graph execute --env 1 --type nothing").fails(1, &["nothing"]);
    desk.run("graph execute --env 1 --type bad --node 9").fails(1, &["9"]);
    let run = desk.run("graph execute --env 1 --type bad --node 2 --quiet").ok();
    let watched = desk.run(&format!("run watch {run}"));
    assert!(watched.out.contains("node 2: break failed"), "{}", watched.out);
    assert!(watched.out.contains("failed task"), "{}", watched.out);
    watched.fails(1, &["failed", "stoker run logs"]);
    let shown = desk.run(&format!("run show {run}")).ok();
    assert!(shown.contains("bad") && shown.contains("break"), "{shown}");
    let logs = desk.run(&format!("run logs {run}"));
    assert!(logs.err.contains("break on node 2: error, "), "{}", logs.err);
    assert_eq!(logs.ok(), "  to the log\n! sorry\n");
    let logs = desk.run(&format!("run logs {} -o json", run.trim())).json();
    assert!(logs[0]["status"] == "error" && logs[0]["reason"].is_string(), "{logs}");
    assert_eq!(desk.run(&format!("run logs {} --search sorry", run.trim())).ok(), "! sorry\n");
    desk.run(&format!("run logs {} --task other", run.trim())).fails(1, &["`other` was not carried out"]);
    let again = desk.run(&format!("run retry {} --follow", run.trim()));
    again.fails(1, &["failed"]);
    desk.run(&format!("run retry {} --from other", run.trim())).fails(1, &["`other` is in no plan"]);
    desk.run(&format!("run retry {} --from break/2 --follow", run.trim())).fails(1, &["failed"]);
    desk.run("graph execute --env 1 --type bad --at-stages jump").fails(2, &["jump"]);
    let history = desk.run(&format!("history show {} -o json", run.trim())).json();
    assert_eq!((&history[0]["task_name"], &history[0]["status"]), (&"break".into(), &"error".into()));
    let csv = desk.run(&format!("history show {} --csv", run.trim())).ok();
    assert!(csv.starts_with("task_name,node_id,status") && csv.contains("break,2,error"), "{csv}");
    desk.run("run watch 99").fails(1, &["run not found"]);
    desk.run(&format!("run delete {}", run.trim())).ok();
}

#[test]
fn a_run_is_paused_resumed_and_stopped() {
    let desk = Desk::with_cluster();
    desk.write(
        "tasks.yaml",
        "- id: wait\n  type: shell\n  version: 2.1.0\n  role: web\n  parameters: {cmd: 'sleep 600'}\n\
         - {id: then, type: shell, version: 2.1.0, role: web, requires: [wait], parameters: {cmd: x}}\n",
    );
    desk.run("graph upload --env 1 --type slow --file tasks.yaml").ok();
    let started = desk.run("graph execute --env 1 --type slow --node 2 --output json").json();
    let run = started["id"].as_i64().unwrap();
    desk.run("env deploy 1").fails(1, &["already"]);
    while desk.run(&format!("history show {run} --status running -o json")).json() == Json::Array(Vec::new())
    {
    }
    desk.run(&format!("run pause {run}")).ok();
    desk.run(&format!("run resume {run}")).ok();
    assert_eq!(desk.run("run list --status running --quiet").ok(), format!("{run}\n"));
    desk.run(&format!("run stop {run} --now")).ok();
    let err = desk.run(&format!("run watch {run} --quiet")).fails(1, &["was stopped", "run retry"]);
    assert!(!err.contains("failed"), "{err}");
    let watched = desk.run(&format!("run watch {run}")).out;
    assert!(
        watched.contains("wait was stopped")
            && watched.contains("1 task will not begin, for the run was stopped"),
        "{watched}"
    );
    assert!(!watched.contains("failed"), "{watched}");
    desk.run("env stop 1").fails(1, &[]);
    desk.run("env reset 1").fails(1, &["nothing was done"]);
    desk.run("env reset 1 --yes").ok();
    desk.run("env deploy 1 --follow").ok();
    desk.run("env delete 1").fails(1, &["is operational", "nothing was done"]);
}

/// A group may lose nodes, and the run is done nevertheless: it is told which, and why.
#[test]
fn failures_that_are_tolerated_are_told() {
    let desk = Desk::with_cluster();
    let cmd = "echo sorry >&2; exit 3";
    desk.write(
        "tasks.yaml",
        &format!(
            "- {{id: web, type: group, version: 2.1.0, role: web, fault_tolerance: 1}}\n\
             - {{id: break, type: shell, version: 2.1.0, role: web, parameters: {{cmd: '{cmd}', retries: 0}}}}\n"
        ),
    );
    desk.run("graph upload --env 1 --type frail --file tasks.yaml").ok();
    let told = desk.run("graph execute --env 1 --type frail --node 2 --follow").ok();
    for word in ["failed task", "break", "is done", "1 node failed"] {
        assert!(told.contains(word), "{word}: {told}");
    }
}

/// As somebody at a terminal sees it: lines that change in place.
#[test]
fn a_terminal_shows_a_line_for_each_node() {
    let desk = Desk::with_cluster();
    desk.run("env deploy 1 --follow").ok();
    desk.run("settings set --env 1 common.debug=true").ok();
    for columns in [80, 160] {
        for (name, words) in [("watch", ["run", "watch", "1"]), ("plan", ["plan", "show", "2"])] {
            if name == "plan" && columns == 80 {
                desk.run("plan --env 1 --quiet").ok();
            }
            let screen = Screen::of(desk.command(&words, columns), columns);
            insta::assert_snapshot!(format!("{name}-{columns}"), screen.without_times());
        }
    }
    // What is shown while it goes is gone at the end, and the lines of the end are there once.
    for (columns, debug) in [(80, true), (160, false)] {
        desk.run(&format!("settings set --env 1 common.debug={debug}")).ok();
        let screen = Screen::of(desk.command(&["apply", "--env", "1", "--yes"], columns), columns);
        insta::assert_snapshot!(format!("apply-{columns}"), screen.without_times());
    }
}
