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
