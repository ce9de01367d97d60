//! Plans: made, shown, compared, applied.

use crate::desk::Desk;

#[test]
fn a_plan_is_shown_and_what_was_shown_is_what_runs() {
    let desk = Desk::with_cluster();
    let plan = desk.run("plan --env 1").ok();
    for word in [
        "run  install-database on 1\n",
        "run  install-shop on 2, 3\n",
        "3 to run, 3 to skip: plan 1 of cluster 1",
    ] {
        assert!(plan.contains(word), "{word}: {plan}");
    }
    let by_node = desk.run("plan show 1 --by-node --all").ok();
    assert!(
        by_node.contains("node 3\n  run  install-shop\n       ") && by_node.contains("skip deploy_start\n"),
        "{by_node}"
    );
    let json = desk.run("plan make --env 1 --node 1 --output json").json();
    assert_eq!((&json["n_run"], &json["instances"][0]["action"]), (&1.into(), &"skip".into()));
    assert!(desk.run("plan --env 1 --output mermaid").ok().contains("install-shop"));
    desk.run("plan --env 1 --only-nodes web").fails(2, &["stoker node list"]);
    desk.run("plan --env 1 --type nothing").fails(1, &["nothing"]);
    desk.run("plan --env 7").fails(1, &["cluster not found"]);
    assert!(desk.run("plan compare 1 2").ok().contains("- install-shop on 2, 3\n"));
    assert_eq!(desk.run("plan list --env 1 -o json").json().as_array().unwrap().len(), 3);

    // No without an answer, and nothing was done.
    let declined = desk.run("apply --env 1");
    assert!(declined.out.contains("3 to run"), "{}", declined.out);
    declined.fails(1, &["Run this plan? [y/N]", "nothing was done"]);
    assert_eq!(desk.run("run list").out, "");
    let applied = desk.run_with("apply --env 1", "y\n").ok();
    for word in ["node 1: install-database is done", "node 3: install-shop is done", "is done after"] {
        assert!(applied.contains(word), "{word}: {applied}");
    }
    // The plan of before is not what would be planned now.
    desk.run("apply 1 --yes").fails(1, &["plan 1 is out of date", "changed since"]);
    let again = desk.run("apply --env 1 --yes");
    assert!(again.err.contains("nothing to be done"), "{}", again.err);
    let nothing = desk.run("apply --env 1 --yes -o json").json();
    assert_eq!((&nothing["id"], nothing["plan_id"].is_i64()), (&serde_json::Value::Null, true));
    let quiet = desk.run("apply --env 1 --force --yes -q");
    let id: i64 = quiet.out.trim().parse().unwrap();
    assert_eq!((id > 1, quiet.err.as_str()), (true, ""));
    assert!(desk.run(&format!("history show {id} -q")).ok().contains("install-shop@3\n"));
    desk.run("settings set --env 1 common.debug=true").ok();
    let second = desk.run("apply --env 1 --yes").ok();
    assert!(second.contains("2 to run, 4 to skip") && second.contains("was false and is"), "{second}");
    desk.run("plan delete 1").ok();
    desk.run("plan show 1").fails(1, &["plan not found"]);
}

#[test]
fn problems_are_told_once_and_a_run_without_a_plan_tells_them_line_by_line() {
    let desk = Desk::with_cluster();
    let task = |name: &str| {
        format!(
            "- {{id: {name}, type: shell, version: 2.1.0, role: web, condition: {{yaql_exp: $.cgroups}}, parameters: {{cmd: x}}}}\n"
        )
    };
    desk.write("tasks.yaml", &["a", "b"].map(task).concat());
    desk.run("graph upload --env 1 --type odd --file tasks.yaml").ok();
    let err = desk.run("plan --env 1 --type odd").fails(1, &["there is no key 'cgroups' in `$.cgroups`"]);
    assert_eq!(err.matches("on node").count(), 2, "{err}");
    let run = desk.run("graph execute --env 1 --type odd -q").ok();
    let err =
        desk.run(&format!("run watch {run}")).fails(1, &["2 problems", "stoker plan --env 1 --type odd"]);
    assert!(!err.contains("run logs"), "{err}");
    let told = err.lines().filter(|line| line.contains("there is no key 'cgroups'")).count();
    assert_eq!(told, 2, "{err}");
}

/// Nodes by id, and on each the tasks as they come up, whatever they are called.
#[test]
fn a_plan_node_by_node_is_in_order() {
    let desk = Desk::with_cluster();
    let task = |name: &str, after: &str| {
        format!(
            "- {{id: {name}, type: shell, version: 2.1.0, role: web, requires: [{after}], parameters: {{cmd: x}}}}\n"
        )
    };
    desk.write("tasks.yaml", &[task("last", "middle"), task("middle", "zero"), task("zero", "")].concat());
    desk.run("graph upload --env 1 --type order --file tasks.yaml").ok();
    let told = desk.run("plan --env 1 --type order --by-node").ok();
    let words: Vec<&str> = told.split_whitespace().collect();
    let places = ["2", "zero", "middle", "last", "3"].map(|word| words.iter().position(|it| *it == word));
    assert!(places.is_sorted() && places.iter().all(Option::is_some), "{told}");
}
