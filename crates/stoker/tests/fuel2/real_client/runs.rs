//! Everything that starts something.

use serde_json::{Value, json};

use crate::harness::{Fuel, until};

/// A task that leaves a line, so that it can be seen on which nodes it ran.
fn marks(fuel: &Fuel, id: &str, more: &str) -> String {
    let file = fuel.path(id);
    format!(
        "- {{id: {id}, type: shell, version: 2.1.0, roles: ['/.*/'], parameters: {{cmd: 'echo $STOKER_NODE >>{file}', timeout: 60}}{more}}}\n"
    )
}

fn marked(fuel: &Fuel, id: &str) -> Vec<String> {
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
fn a_graph_is_executed_on_some_nodes_with_some_tasks() {
    let fuel = Fuel::with_cluster();
    upload(&fuel, "one", &(marks(&fuel, "a", "") + &marks(&fuel, "b", ", requires: [a]")));
    let task = fuel.finish("graph execute -e 1 -t one -n 1 3 -T a");
    assert_eq!(
        (&task["status"], &task["name"], &task["dry_run"]),
        (&json!("ready"), &json!("deploy"), &json!(false)),
        "{task}"
    );
    assert_eq!((marked(&fuel, "a"), marked(&fuel, "b")), (vec!["1".to_owned(), "3".to_owned()], vec![]));

    // Two graphs, one after the other; what is asked for more is data.
    upload(&fuel, "two", &marks(&fuel, "c", ""));
    let printed = fuel.ok("graph execute -e 1 -t one two -n 2 --force --format json");
    let printed: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!((&printed["cluster"], &printed["name"]), (&json!(1), &json!("deploy")));
    let id = printed["id"].as_i64().unwrap();
    assert_eq!(fuel.ended(id)["status"], "ready");
    assert_eq!((marked(&fuel, "b"), marked(&fuel, "c")), (vec!["2".to_owned()], vec!["2".to_owned()]));
    let types = fuel.column("task list -e 1 -n deployment", "graph_type");
    assert_eq!(types, [json!("one"), json!("one"), json!("two")]);
    let said = fuel.ok("graph execute -e 1 -t two --trace --format yaml");
    assert!(said.contains("name: deploy\n"), "{said}");
}

#[test]
fn neither_a_dry_run_nor_a_noop_run_does_anything() {
    let fuel = Fuel::with_cluster();
    upload(&fuel, "one", &marks(&fuel, "a", ""));
    for option in ["--dry-run", "--noop"] {
        let task = fuel.finish(&format!("graph execute -e 1 -t one {option}"));
        assert_eq!((&task["status"], &task["dry_run"]), (&json!("ready"), &json!(true)), "{option}: {task}");
        assert!(marked(&fuel, "a").is_empty(), "{option}");
    }
    assert_eq!(fuel.run("graph execute -e 1 -t one --dry-run --noop").code, 2);
    assert_eq!(fuel.column("node list -e 1", "status"), vec![json!("discover"); 3]);
    fuel.finish("graph execute -e 1 -t one");
    assert_eq!(marked(&fuel, "a"), ["1", "2", "3"]);
}

#[test]
fn parts_of_a_graph_are_named_by_where_they_begin_and_end() {
    let fuel = Fuel::with_cluster();
    let chain = [("a", ""), ("b", ", requires: [a]"), ("c", ", requires: [b]")];
    upload(&fuel, "one", &chain.map(|(id, more)| marks(&fuel, id, more)).concat());
    let task = fuel.finish("graph execute -e 1 -t one -S b/1:c/1");
    assert_eq!(task["status"], "ready", "{task}");
    assert!(marked(&fuel, "a").is_empty());
    assert_eq!((marked(&fuel, "b"), marked(&fuel, "c")), (vec!["1".to_owned()], vec!["1".to_owned()]));
    let task = fuel.finish("graph execute -e 1 -t one -S :a");
    assert_eq!(task["status"], "ready", "{task}");
    assert_eq!(marked(&fuel, "a"), ["1", "2", "3"]);
    fuel.refused_with(400, "nothing", "graph execute -e 1 -t one -S nothing");
}

#[test]
fn runs_that_cannot_be_are_refused() {
    let fuel = Fuel::with_cluster();
    fuel.discover(4);
    upload(&fuel, "one", &marks(&fuel, "a", ""));
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
        (400, "Nothing to stop - deployment is not running on environment '1'", "env stop-deployment 1"),
        (404, "Cluster not found", "env reset 9"),
    ] {
        fuel.refused_with(status, text, line);
    }
    assert!(fuel.json("task list").as_array().unwrap().is_empty());
}

#[test]
fn an_environment_is_deployed_again_and_reset() {
    let fuel = Fuel::with_cluster();
    upload(&fuel, "default", &marks(&fuel, "a", ", condition: {yaql_exp: 'changed($.cluster.name)'}"));
    let task = fuel.finish("env deploy 1 --dry-run");
    assert_eq!((&task["status"], &task["dry_run"]), (&json!("ready"), &json!(true)), "{task}");
    fuel.finish("env deploy 1 --noop");
    assert!(marked(&fuel, "a").is_empty());
    let task = fuel.finish("env deploy 1");
    assert_eq!(task["status"], "ready", "{task}");
    assert_eq!(marked(&fuel, "a").len(), 3);
    assert_eq!(fuel.json("env show 1")["status"], "operational");
    assert_eq!(fuel.column("node list -e 1", "status"), vec![json!("ready"); 3]);
    // Nothing has changed; then everything is done again whether it has or not.
    fuel.finish("env deploy 1");
    assert_eq!(marked(&fuel, "a").len(), 3);
    fuel.finish("env redeploy 1 --dry-run");
    fuel.finish("env redeploy 1 --noop");
    assert_eq!(marked(&fuel, "a").len(), 3);
    fuel.finish("env redeploy 1");
    assert_eq!(marked(&fuel, "a").len(), 6);
    fuel.finish("env nodes deploy -e 1 -n 1 2");
    fuel.finish("env nodes deploy -e 1 -n 2 --force --noop");
    assert_eq!(marked(&fuel, "a").len(), 6);
    fuel.finish("env nodes deploy -e 1 -n 2 --force");
    assert_eq!(marked(&fuel, "a").len(), 7);

    // An operational one is not deleted by accident.
    let said = fuel.ok("env delete 1");
    assert!(said.contains("--force"), "{said}");
    let said = fuel.ok("env reset 1");
    assert!(said.ends_with("for the environment 1 has been started.\n"), "{said}");
    assert_ne!(fuel.json("env show 1")["status"], "operational");
    fuel.ok("env reset 1 --force");
    assert_eq!(fuel.ok("env delete 1"), "Environment with id 1 was deleted\n");
}

#[test]
fn a_deployment_is_stopped() {
    let fuel = Fuel::with_cluster();
    let (begun, go) = (fuel.path("begun"), fuel.path("go"));
    let slow = format!("touch {begun}; until test -e {go}; do sleep 0.1; done");
    let task = |id: &str, cmd: &str| json!({"id": id, "type": "shell", "version": "2.1.0", "roles": ["controller"], "parameters": {"cmd": cmd, "timeout": 600}});
    let mut later = task("later", &format!("touch {}", fuel.path("later")));
    later["requires"] = json!(["slow"]);
    // JSON is YAML, too.
    upload(&fuel, "slow", &json!([task("slow", &slow), later]).to_string());
    let id = fuel.start("graph execute -e 1 -t slow");
    until("it begins", || std::fs::exists(&begun).unwrap().then_some(()));
    assert_eq!(fuel.column("task list -e 1 -t running -n deploy", "id"), [json!(id)]);
    for line in ["graph execute -e 1 -t slow", "env deploy 1", "env reset 1"] {
        fuel.refused_with(409, "", line);
    }
    fuel.refused_with(400, "You cannot delete running task manually", &format!("task delete {id}"));
    assert!(fuel.refused("env delete 1").starts_with('4'));
    let said = fuel.ok("env stop-deployment 1");
    assert!(
        said.starts_with("Stop deployment task with id ")
            && said.ends_with("for the environment 1 has been started.\n"),
        "{said}"
    );
    // What has begun is finished, nothing more is begun.
    fuel.write("go", "");
    assert_eq!(fuel.ended(id)["message"], "The run was stopped");
    assert!(!std::fs::exists(fuel.path("later")).unwrap());
    assert_eq!(fuel.json("env show 1")["status"], "stopped");
}

#[test]
fn nodes_are_provisioned_before_they_are_deployed() {
    let fuel = Fuel::with_cluster();
    fuel.refused_with(400, "graph type 'provision'", "env nodes provision -e 1 -n 1 2");
    upload(&fuel, "default", &marks(&fuel, "a", ""));
    fuel.write(
        "provision.yaml",
        &format!(
            "on_success: {{node_attributes: {{status: provisioned, pending_addition: false}}}}\ntasks:\n{}",
            marks(&fuel, "image", "")
        ),
    );
    fuel.ok("graph upload -e 1 -t provision -f provision.yaml");
    let said = fuel.ok("env nodes provision -e 1 -n 1 2");
    assert_eq!(
        said,
        "Provisioning task with id 1 for the nodes 1, 2 within the environment 1 has been started.\n"
    );
    assert_eq!(fuel.ended(1)["status"], "ready");
    assert_eq!(marked(&fuel, "image"), ["1", "2"]);
    assert_eq!(
        fuel.column("node list -e 1", "status"),
        [json!("provisioned"), json!("provisioned"), json!("discover")]
    );
    // Of itself a deployment takes those that are installed.
    assert_eq!(fuel.finish("env deploy 1")["status"], "ready");
    assert_eq!(marked(&fuel, "a"), ["1", "2"]);
}
