//! Plans: create, show, compare, apply.

use crate::fixture::CliFixture;

#[test]
fn plans_are_created_shown_compared_and_deleted() {
    let cli = CliFixture::with_cluster();
    cli.show("plan --env 1");
    cli.show("plan show 1 --by-node --all");
    let json = cli.run("plan make --env 1 --node 1 --output json").json();
    assert_eq!((&json["n_run"], &json["instances"][0]["action"]), (&1.into(), &"skip".into()));
    cli.show("plan --env 1 --output mermaid");
    cli.show("plan --env 1 --only-nodes web");
    cli.show("plan --env 1 --type nothing");
    cli.show("plan --env 7");
    cli.show("plan compare 1 2");
    cli.show("plan list --env 1");
    assert_eq!(cli.run("plan list --env 1 -o json").json().as_array().unwrap().len(), 3);
    cli.show("plan delete 1");
    cli.show("plan show 1");
    insta::assert_snapshot!("plan", cli.transcript());
}

#[test]
fn shown_plan_is_applied() {
    let cli = CliFixture::with_cluster();
    cli.run("plan --env 1").ok();
    // End of input cancels.
    cli.show("apply --env 1");
    cli.show("run list");
    cli.show_with("apply --env 1", "y\n");
    // The first plan is stale after the run.
    cli.show("apply 1 --yes");
    cli.show("apply --env 1 --yes");
    cli.show("apply --env 1 --yes -o json");
    cli.show("apply --env 1 --force --yes -q");
    cli.show("history show 2 -q");
    cli.show("settings set --env 1 common.debug=true");
    cli.show("apply --env 1 --yes");
    insta::assert_snapshot!("apply", cli.transcript());
}

#[test]
fn planning_problems_are_reported_once() {
    let cli = CliFixture::with_cluster();
    let task = |name: &str| {
        format!(
            "- {{id: {name}, type: shell, version: 2.1.0, role: web, condition: {{yaql_exp: $.cgroups}}, parameters: {{cmd: x}}}}\n"
        )
    };
    cli.write("tasks.yaml", &["a", "b"].map(task).concat());
    cli.run("graph upload --env 1 --type odd --file tasks.yaml").ok();
    cli.show("plan --env 1 --type odd");
    let run = cli.show("graph execute --env 1 --type odd -q").ok();
    cli.show(&format!("run watch {run}"));
    insta::assert_snapshot!("plan-problems", cli.transcript());
}

/// A graph whose task renders a setting, and a password, into its parameters.
const TITLE: &str = "\
- id: title
  type: shell
  version: 3.0.0
  role: web
  parameters:
    cmd: {yaql_exp: \"concat('echo ', str($.settings.common.debug.value), '\\necho end')\"}
    cwd: /
    env: {DB_PASSWORD: hunter2hunter2}
";

#[test]
fn plan_shows_what_changes() {
    let cli = CliFixture::with_cluster();
    cli.write("tasks.yaml", TITLE);
    cli.run("graph upload --env 1 --type title --file tasks.yaml").ok();
    cli.show("plan --env 1 --type title");
    cli.run("apply --env 1 --type title --yes").ok();
    cli.show("plan --env 1 --type title");
    cli.show("plan --env 1 --type title --only-tasks title --show all");
    cli.run("settings set --env 1 common.debug=true").ok();
    cli.write("tasks.yaml", &TITLE.replace("hunter2hunter2", "correct-horse"));
    cli.run("graph upload --env 1 --type title --file tasks.yaml").ok();
    cli.show("plan --env 1 --type title");
    cli.show("plan --env 1 --type title --show summary");
    cli.show("plan --env 1 --type title --show all --by-node");
    let json = cli.run("plan --env 1 --type title -o json").json();
    assert_eq!(json["differences"][0]["n_nodes"], 2);
    cli.run("apply --env 1 --type title --yes").ok();
    cli.take_offline(3);
    cli.show("plan --env 1 --type title");
    cli.take_offline(1);
    cli.take_offline(2);
    cli.show("plan --env 1 --type title");
    insta::assert_snapshot!("plan-changes", cli.transcript());
}

#[test]
fn exit_code_tells_changes_from_errors() {
    let cli = CliFixture::with_cluster();
    cli.write("tasks.yaml", TITLE);
    cli.run("graph upload --env 1 --type title --file tasks.yaml").ok();
    let code = |line: &str| cli.run(line).code;
    let detailed = "plan --env 1 --type title --detailed-exitcode";
    assert_eq!(code(detailed), 2);
    assert_eq!(code("plan make --env 1 --type title --detailed-exitcode --quiet"), 2);
    assert_eq!(code(&format!("{detailed} -o json")), 2);
    assert_eq!(code(&format!("{detailed} -o svg")), 2);
    cli.run("apply --env 1 --type title --yes").ok();
    assert_eq!(code(detailed), 0);
    assert_eq!(code(&format!("{detailed} --warnings-as-errors")), 0);
    for error in [
        "plan --env 7 --detailed-exitcode",
        "plan --env 1 --type nothing --detailed-exitcode",
        "plan --env x --detailed-exitcode",
        "plan --env 1 --only-nodes web --detailed-exitcode",
        "plan --env 1 --detailed-exitcode --no-such-option",
        "plan --env 1 --detailed-exitcode --show most",
        "plan --env 1 --server http://127.0.0.1:1 --detailed-exitcode",
        "plan --offline --tasks nowhere.yaml --nodes n --tags t --detailed-exitcode",
    ] {
        assert_eq!(code(error), 1, "{error}");
    }
    assert_eq!(code("plan --help --detailed-exitcode"), 0);
    // A warning of the graph, which is no warning of the planner.
    cli.write("tasks.yaml", &TITLE.replace("  role", "  condition: {yaql_exp: not old($.settings)}\n  role"));
    cli.run("graph upload --env 1 --type title --file tasks.yaml").ok();
    assert_eq!(code(detailed), 0);
    cli.show(&format!("{detailed} --warnings-as-errors"));
    cli.run("graph delete --env 1 --type title --yes");
    cli.write("tasks.yaml", TITLE);
    cli.run("graph upload --env 1 --type title --file tasks.yaml").ok();
    cli.take_offline(3);
    cli.show("plan --env 1 --type title --warnings-as-errors");
    insta::assert_snapshot!("plan-exit-codes", cli.transcript());
}

/// Nodes are sorted by ID and the tasks of each node by execution order.
#[test]
fn plan_by_node_is_ordered() {
    let cli = CliFixture::with_cluster();
    let task = |name: &str, after: &str| {
        format!(
            "- {{id: {name}, type: shell, version: 2.1.0, role: web, requires: [{after}], parameters: {{cmd: x}}}}\n"
        )
    };
    cli.write("tasks.yaml", &[task("last", "middle"), task("middle", "zero"), task("zero", "")].concat());
    cli.run("graph upload --env 1 --type order --file tasks.yaml").ok();
    cli.show("plan --env 1 --type order --by-node");
    insta::assert_snapshot!("plan-by-node", cli.transcript());
}
