//! Runs: start, follow, control, history.

use serde_json::Value as Json;

use crate::fixture::CliFixture;
use crate::screen::Screen;

#[test]
fn failed_run_reports_failed_tasks() {
    let cli = CliFixture::with_cluster();
    cli.run("apply --env 1 --yes --quiet").ok();
    cli.show("run logs 1");
    cli.write(
        "tasks.yaml",
        "- id: break\n  type: shell\n  version: 2.1.0\n  role: web\n  parameters: {cmd: 'echo to the log; echo sorry >&2; exit 3', retries: 0}\n",
    );
    cli.run("graph upload --env 1 --type bad --file tasks.yaml").ok();
    cli.show("graph execute --env 1 --type nothing");
    cli.show("graph execute --env 1 --type bad --node 9");
    cli.show("graph execute --env 1 --type bad --at-stages jump");
    let run = cli.show("graph execute --env 1 --type bad --node 2 --quiet").ok();
    let run = run.trim();
    cli.show(&format!("run watch {run}"));
    cli.show(&format!("run show {run}"));
    cli.show("run watch 99");
    insta::assert_snapshot!("run", cli.transcript());
    cli.show(&format!("run logs {run}"));
    cli.show(&format!("run logs {run} -o json"));
    cli.show(&format!("run logs {run} --search sorry"));
    cli.show(&format!("run logs {run} --task other"));
    insta::assert_snapshot!("run-logs", cli.transcript());
    cli.show(&format!("run retry {run} --follow"));
    cli.show(&format!("run retry {run} --from other"));
    cli.show(&format!("run retry {run} --from break/2 --follow"));
    insta::assert_snapshot!("run-retry", cli.transcript());
    cli.show(&format!("history show {run}"));
    cli.show(&format!("history show {run} -o json"));
    cli.show(&format!("history show {run} --csv"));
    cli.show(&format!("run delete {run}"));
    cli.show(&format!("history show {run}"));
    insta::assert_snapshot!("history", cli.transcript());
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
    cli.show("env deploy 1");
    while cli.run(&format!("history show {run} --status running -o json")).json() == Json::Array(Vec::new()) {
    }
    cli.show(&format!("run pause {run}"));
    cli.show(&format!("run resume {run}"));
    cli.show("run list --status running --quiet");
    cli.show(&format!("run stop {run} --now"));
    cli.show(&format!("run watch {run} --quiet"));
    cli.show(&format!("run watch {run}"));
    cli.show("env stop 1");
    cli.show("env reset 1");
    cli.show("env reset 1 --yes");
    // The nodes of a deployment report in any order.
    cli.run("env deploy 1 --follow").ok();
    cli.show("env delete 1");
    insta::assert_snapshot!("run-control", cli.transcript());
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
    cli.show("graph execute --env 1 --type frail --node 2 --follow");
    insta::assert_snapshot!("run-tolerated", cli.transcript());
}

/// A run without offline nodes is partial: it has its own outcome and exit code.
#[test]
fn partial_run_names_offline_nodes() {
    let cli = CliFixture::with_cluster();
    cli.take_offline(3);
    for line in ["env deploy 1 --follow", "env deploy 1 --follow --quiet", "apply --env 1 --yes"] {
        assert_eq!(cli.run(line).code, 6, "{line}");
    }
    cli.show("run watch 1 --quiet");
    cli.show("run show 1");
    cli.show("run list");
    cli.show("apply --env 1 --yes");
    cli.show("apply --env 1 --yes -o json");
    cli.show("apply --env 1 --yes --only-nodes 1,2");
    insta::assert_snapshot!("run-partial", cli.transcript());
    assert_eq!(cli.run("run show 1 -o json").json()["run"]["outcome"], "partial");
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
