//! Commands that start runs.

use serde_json::{Value, json};

use crate::harness::{Fuel, until};

/// Returns a task that appends its node to a file, which shows on which nodes it ran.
fn marker_task(fuel: &Fuel, id: &str, more: &str) -> String {
    let file = fuel.path(id);
    format!(
        "- {{id: {id}, type: shell, version: 2.1.0, roles: ['/.*/'], parameters: {{cmd: 'echo $STOKER_NODE >>{file}', timeout: 60}}{more}}}\n"
    )
}

fn marked_nodes(fuel: &Fuel, id: &str) -> Vec<String> {
    let text = std::fs::read_to_string(fuel.path(id)).unwrap_or_default();
    let mut nodes: Vec<String> = text.lines().map(str::to_owned).collect();
    nodes.sort_unstable();
    nodes
}

fn upload(fuel: &Fuel, graph_type: &str, tasks: &str) {
    fuel.write("tasks.yaml", tasks);
    fuel.ok(&format!("graph upload -e 1 -t {graph_type} -f tasks.yaml"));
}

#[test]
fn graph_is_executed_for_selected_nodes_and_tasks() {
    let fuel = Fuel::with_cluster();
    upload(&fuel, "one", &(marker_task(&fuel, "a", "") + &marker_task(&fuel, "b", ", requires: [a]")));
    let task = fuel.finish("graph execute -e 1 -t one -n 1 3 -T a");
    assert_eq!(
        (&task["status"], &task["name"], &task["dry_run"]),
        (&json!("ready"), &json!("deploy"), &json!(false)),
        "{task}"
    );
    assert_eq!(
        (marked_nodes(&fuel, "a"), marked_nodes(&fuel, "b")),
        (vec!["1".to_owned(), "3".to_owned()], vec![])
    );

    // Two graphs, one after another; `--format` prints the task as data.
    upload(&fuel, "two", &marker_task(&fuel, "c", ""));
    let output = fuel.ok("graph execute -e 1 -t one two -n 2 --force --format json");
    let output: Value = serde_json::from_str(&output).unwrap();
    assert_eq!((&output["cluster"], &output["name"]), (&json!(1), &json!("deploy")));
    let id = output["id"].as_i64().unwrap();
    assert_eq!(fuel.wait_for_end(id)["status"], "ready");
    assert_eq!(
        (marked_nodes(&fuel, "b"), marked_nodes(&fuel, "c")),
        (vec!["2".to_owned()], vec!["2".to_owned()])
    );
    let types = fuel.column("task list -e 1 -n deployment", "graph_type");
    assert_eq!(types, [json!("one"), json!("one"), json!("two")]);
    let output = fuel.ok("graph execute -e 1 -t two --trace --format yaml");
    assert!(output.contains("name: deploy\n"), "{output}");
}

#[test]
fn dry_run_and_noop_run_change_nothing() {
    let fuel = Fuel::with_cluster();
    upload(&fuel, "one", &marker_task(&fuel, "a", ""));
    for option in ["--dry-run", "--noop"] {
        let task = fuel.finish(&format!("graph execute -e 1 -t one {option}"));
        assert_eq!((&task["status"], &task["dry_run"]), (&json!("ready"), &json!(true)), "{option}: {task}");
        assert!(marked_nodes(&fuel, "a").is_empty(), "{option}");
    }
    assert_eq!(fuel.run("graph execute -e 1 -t one --dry-run --noop").code, 2);
    assert_eq!(fuel.column("node list -e 1", "status"), vec![json!("discover"); 3]);
    fuel.finish("graph execute -e 1 -t one");
    assert_eq!(marked_nodes(&fuel, "a"), ["1", "2", "3"]);
}

#[test]
fn subgraphs_are_selected_by_start_and_end() {
    let fuel = Fuel::with_cluster();
    let chain = [("a", ""), ("b", ", requires: [a]"), ("c", ", requires: [b]")];
    upload(&fuel, "one", &chain.map(|(id, more)| marker_task(&fuel, id, more)).concat());
    let task = fuel.finish("graph execute -e 1 -t one -S b/1:c/1");
    assert_eq!(task["status"], "ready", "{task}");
    assert!(marked_nodes(&fuel, "a").is_empty());
    assert_eq!(
        (marked_nodes(&fuel, "b"), marked_nodes(&fuel, "c")),
        (vec!["1".to_owned()], vec!["1".to_owned()])
    );
    let task = fuel.finish("graph execute -e 1 -t one -S :a");
    assert_eq!(task["status"], "ready", "{task}");
    assert_eq!(marked_nodes(&fuel, "a"), ["1", "2", "3"]);
    fuel.rejected_with(400, "nothing", "graph execute -e 1 -t one -S nothing");
}

#[test]
fn invalid_runs_are_rejected() {
    let fuel = Fuel::with_cluster();
    fuel.discover(4);
    upload(&fuel, "one", &marker_task(&fuel, "a", ""));
    for (status, text, line) in [
        (404, "Cluster not found", "graph execute -e 9 -t one"),
        (400, "There are no deployment tasks for graph type 'two'", "graph execute -e 1 -t one two"),
        (400, "4", "graph execute -e 1 -t one -n 1 4"),
        (400, "9", "graph execute -e 1 -t one -n 9"),
        (400, "nothing", "graph execute -e 1 -t one -T nothing"),
        (404, "Cluster not found", "env deploy 9"),
        (404, "Cluster not found", "env redeploy 9"),
        (404, "NodeCollection not found", "env nodes deploy -e 1 -n 9"),
        (400, "Nodes 4 do not belong to cluster 1", "env nodes deploy -e 1 -n 4"),
        (400, "Nodes 4 do not belong to cluster 1", "env nodes deploy -e 1 -n 1 4"),
        (404, "NodeCollection not found", "env nodes provision -e 1 -n 9"),
        (404, "Cluster not found", "env nodes provision -e 9 -n 1"),
        (404, "Cluster not found", "env stop-deployment 9"),
        (400, "nothing to stop: no run is active in cluster 1", "env stop-deployment 1"),
        (404, "Cluster not found", "env reset 9"),
    ] {
        fuel.rejected_with(status, text, line);
    }
    assert!(fuel.json("task list").as_array().unwrap().is_empty());
}

#[test]
fn environment_is_redeployed_and_reset() {
    let fuel = Fuel::with_cluster();
    upload(&fuel, "default", &marker_task(&fuel, "a", ", condition: {yaql_exp: 'changed($.cluster.name)'}"));
    let task = fuel.finish("env deploy 1 --dry-run");
    assert_eq!((&task["status"], &task["dry_run"]), (&json!("ready"), &json!(true)), "{task}");
    fuel.finish("env deploy 1 --noop");
    assert!(marked_nodes(&fuel, "a").is_empty());
    let task = fuel.finish("env deploy 1");
    assert_eq!(task["status"], "ready", "{task}");
    assert_eq!(marked_nodes(&fuel, "a").len(), 3);
    assert_eq!(fuel.json("env show 1")["status"], "operational");
    assert_eq!(fuel.column("node list -e 1", "status"), vec![json!("ready"); 3]);
    // Without changes nothing runs; a redeployment runs everything.
    fuel.finish("env deploy 1");
    assert_eq!(marked_nodes(&fuel, "a").len(), 3);
    fuel.finish("env redeploy 1 --dry-run");
    fuel.finish("env redeploy 1 --noop");
    assert_eq!(marked_nodes(&fuel, "a").len(), 3);
    fuel.finish("env redeploy 1");
    assert_eq!(marked_nodes(&fuel, "a").len(), 6);
    fuel.finish("env nodes deploy -e 1 -n 1 2");
    fuel.finish("env nodes deploy -e 1 -n 2 --force --noop");
    assert_eq!(marked_nodes(&fuel, "a").len(), 6);
    fuel.finish("env nodes deploy -e 1 -n 2 --force");
    assert_eq!(marked_nodes(&fuel, "a").len(), 7);

    // An operational environment is not deleted without `--force`.
    let output = fuel.ok("env delete 1");
    assert!(output.contains("--force"), "{output}");
    let output = fuel.ok("env reset 1");
    assert!(output.ends_with("for the environment 1 has been started.\n"), "{output}");
    assert_ne!(fuel.json("env show 1")["status"], "operational");
    fuel.ok("env reset 1 --force");
    assert_eq!(fuel.ok("env delete 1"), "Environment with id 1 was deleted\n");
}

#[test]
fn deployment_is_stopped() {
    let fuel = Fuel::with_cluster();
    let (started, go) = (fuel.path("started"), fuel.path("go"));
    let slow = format!("touch {started}; until test -e {go}; do sleep 0.1; done");
    let task = |id: &str, cmd: &str| json!({"id": id, "type": "shell", "version": "2.1.0", "roles": ["controller"], "parameters": {"cmd": cmd, "timeout": 600}});
    let mut later = task("later", &format!("touch {}", fuel.path("later")));
    later["requires"] = json!(["slow"]);
    // JSON is valid YAML.
    upload(&fuel, "slow", &json!([task("slow", &slow), later]).to_string());
    let id = fuel.start("graph execute -e 1 -t slow");
    until("the task starts", || std::fs::exists(&started).unwrap().then_some(()));
    assert_eq!(fuel.column("task list -e 1 -t running -n deploy", "id"), [json!(id)]);
    for line in ["graph execute -e 1 -t slow", "env deploy 1", "env reset 1"] {
        fuel.rejected_with(409, "", line);
    }
    fuel.rejected_with(400, "You cannot delete running task manually", &format!("task delete {id}"));
    assert!(fuel.rejected("env delete 1").starts_with('4'));
    let output = fuel.ok("env stop-deployment 1");
    assert!(
        output.starts_with("Stop deployment task with id ")
            && output.ends_with("for the environment 1 has been started.\n"),
        "{output}"
    );
    // Running tasks finish, no further tasks start.
    fuel.write("go", "");
    assert_eq!(fuel.wait_for_end(id)["message"], "the run was stopped");
    assert!(!std::fs::exists(fuel.path("later")).unwrap());
    assert_eq!(fuel.json("env show 1")["status"], "stopped");
}

#[test]
fn nodes_are_provisioned_before_they_are_deployed() {
    let fuel = Fuel::with_cluster();
    fuel.rejected_with(400, "graph type 'provision'", "env nodes provision -e 1 -n 1 2");
    upload(&fuel, "default", &marker_task(&fuel, "a", ""));
    fuel.write(
        "provision.yaml",
        &format!(
            "on_success: {{node_attributes: {{status: provisioned, pending_addition: false}}}}\ntasks:\n{}",
            marker_task(&fuel, "image", "")
        ),
    );
    fuel.ok("graph upload -e 1 -t provision -f provision.yaml");
    let output = fuel.ok("env nodes provision -e 1 -n 1 2");
    assert_eq!(
        output,
        "Provisioning task with id 1 for the nodes 1, 2 within the environment 1 has been started.\n"
    );
    assert_eq!(fuel.wait_for_end(1)["status"], "ready");
    assert_eq!(marked_nodes(&fuel, "image"), ["1", "2"]);
    assert_eq!(
        fuel.column("node list -e 1", "status"),
        [json!("provisioned"), json!("provisioned"), json!("discover")]
    );
    // A deployment uses provisioned nodes only.
    assert_eq!(fuel.finish("env deploy 1")["status"], "ready");
    assert_eq!(marked_nodes(&fuel, "a"), ["1", "2"]);
}
