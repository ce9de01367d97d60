//! Plans: create, show, compare, apply.

use crate::fixture::CliFixture;

#[test]
fn shown_plan_is_applied() {
    let cli = CliFixture::with_cluster();
    let plan = cli.run("plan --env 1").ok();
    for word in [
        "run  install-database on 1\n",
        "run  install-shop on 2, 3\n",
        "Plan 1: 3 to run, 3 to skip (cluster 1",
    ] {
        assert!(plan.contains(word), "{word}: {plan}");
    }
    let by_node = cli.run("plan show 1 --by-node --all").ok();
    assert!(
        by_node.contains("node 3\n  run  install-shop\n       ") && by_node.contains("skip deploy_start\n"),
        "{by_node}"
    );
    let json = cli.run("plan make --env 1 --node 1 --output json").json();
    assert_eq!((&json["n_run"], &json["instances"][0]["action"]), (&1.into(), &"skip".into()));
    assert!(cli.run("plan --env 1 --output mermaid").ok().contains("install-shop"));
    cli.run("plan --env 1 --only-nodes web").fails(2, &["stoker node list"]);
    cli.run("plan --env 1 --type nothing").fails(1, &["nothing"]);
    cli.run("plan --env 7").fails(1, &["cluster not found"]);
    assert!(cli.run("plan compare 1 2").ok().contains("- install-shop on 2, 3\n"));
    assert_eq!(cli.run("plan list --env 1 -o json").json().as_array().unwrap().len(), 3);

    // End of input cancels.
    let cancelled = cli.run("apply --env 1");
    assert!(cancelled.out.contains("3 to run"), "{}", cancelled.out);
    cancelled.fails(1, &["Apply this plan? [y/N]", "not confirmed"]);
    assert_eq!(cli.run("run list").out, "");
    let output = cli.run_with("apply --env 1", "y\n").ok();
    for word in ["node 1: install-database succeeded", "node 3: install-shop succeeded", "succeeded after"] {
        assert!(output.contains(word), "{word}: {output}");
    }
    // The first plan is stale after the run.
    cli.run("apply 1 --yes").fails(1, &["cannot apply plan 1", "changed: "]);
    let unchanged = cli.run("apply --env 1 --yes");
    assert!(unchanged.err.contains("no changes"), "{}", unchanged.err);
    let unchanged_json = cli.run("apply --env 1 --yes -o json").json();
    assert_eq!((&unchanged_json["id"], unchanged_json["plan_id"].is_i64()), (&serde_json::Value::Null, true));
    let quiet = cli.run("apply --env 1 --force --yes -q");
    let id: i64 = quiet.out.trim().parse().unwrap();
    assert_eq!((id > 1, quiet.err.as_str()), (true, ""));
    assert!(cli.run(&format!("history show {id} -q")).ok().contains("install-shop@3\n"));
    cli.run("settings set --env 1 common.debug=true").ok();
    let second = cli.run("apply --env 1 --yes").ok();
    assert!(second.contains("2 to run, 4 to skip") && second.contains("changed from false"), "{second}");
    cli.run("plan delete 1").ok();
    cli.run("plan show 1").fails(1, &["plan not found"]);
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
    let err = cli.run("plan --env 1 --type odd").fails(1, &["there is no key 'cgroups' in `$.cgroups`"]);
    assert_eq!(err.matches("on node").count(), 2, "{err}");
    let run = cli.run("graph execute --env 1 --type odd -q").ok();
    let err =
        cli.run(&format!("run watch {run}")).fails(1, &["2 problems", "stoker plan --env 1 --type odd"]);
    assert!(!err.contains("run logs"), "{err}");
    let n_problems = err.lines().filter(|line| line.contains("there is no key 'cgroups'")).count();
    assert_eq!(n_problems, 2, "{err}");
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
    let output = cli.run("plan --env 1 --type order --by-node").ok();
    let words: Vec<&str> = output.split_whitespace().collect();
    let positions =
        ["2", "zero", "middle", "last", "3"].map(|word| words.iter().position(|item| *item == word));
    assert!(positions.is_sorted() && positions.iter().all(Option::is_some), "{output}");
}
