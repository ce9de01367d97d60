//! Task list, history and downloads.

use serde_json::{Value, json};

use crate::harness::Fuel;

const TASKS: &str = "
- {id: a, type: shell, version: 2.1.0, roles: ['/.*/'], parameters: {cmd: 'true', timeout: 60}}
- {id: b, type: shell, version: 2.1.0, roles: [controller], requires: [a], parameters: {cmd: 'exit 3', timeout: 60, retries: 0}}
- {id: c, type: shell, version: 2.1.0, roles: [controller], requires: [b], parameters: {cmd: 'true', timeout: 60}}
";

/// Executes a successful and a failed run; returns their IDs.
fn two_runs() -> (Fuel, i64, i64) {
    let fuel = Fuel::with_cluster();
    fuel.write("tasks.yaml", TASKS);
    fuel.ok("graph upload -e 1 -t faulty -f tasks.yaml");
    let succeeded = fuel.finish("graph execute -e 1 -t default");
    let failed = fuel.finish("graph execute -e 1 -t faulty");
    assert_eq!(
        (&succeeded["status"], &failed["status"]),
        (&json!("ready"), &json!("error")),
        "{succeeded} {failed}"
    );
    (fuel, succeeded["id"].as_i64().unwrap(), failed["id"].as_i64().unwrap())
}

#[test]
fn tasks_are_listed_shown_and_deleted() {
    let (fuel, succeeded, failed) = two_runs();
    let tasks = fuel.json("task list");
    assert_eq!(tasks.as_array().unwrap().len(), 4, "{tasks}");
    assert_eq!(fuel.json("task list -e 1"), tasks);
    assert_eq!(fuel.column("task list -t error -n deploy", "id"), [json!(failed)]);
    assert_eq!(fuel.column("task list -t ready error -n deploy", "id"), [json!(succeeded), json!(failed)]);
    assert_eq!(fuel.column("task list -n deployment", "graph_type"), [json!("default"), json!("faulty")]);
    assert_eq!(fuel.json("task list -t running pending"), json!([]));
    assert_eq!(fuel.column("task list -s status id", "status")[0], "error");
    fuel.rejected_with(400, "nonsense", "task list -n nonsense");
    assert_eq!(fuel.run("task list -t nonsense").code, 2);

    let task = fuel.json(&format!("task show {failed}"));
    for (field, value) in [("name", "deploy"), ("status", "error")] {
        assert_eq!(task[field], value, "{task}");
    }
    assert!(!task["message"].as_str().unwrap().is_empty() && task["uuid"].is_string(), "{task}");
    assert_eq!(fuel.json(&format!("task show {succeeded}"))["progress"], 100);
    fuel.rejected_with(404, "Transaction not found", "task show 99");

    assert_eq!(
        fuel.ok(&format!("task delete {succeeded}")),
        format!("Task with id {succeeded} was deleted\n")
    );
    fuel.rejected_with(404, "Transaction not found", &format!("task show {succeeded}"));
    fuel.rejected_with(404, "Transaction not found", &format!("task delete {succeeded} --force"));
    fuel.ok(&format!("task delete --force {failed}"));
    assert_eq!(fuel.json("task list -n deploy"), json!([]));
}

/// Returns the rows as `task node status`, sorted.
fn history_rows(history: &Value) -> Vec<String> {
    let row = |row: &Value| {
        ["task_name", "node_id", "status"]
            .map(|key| row[key].as_str().unwrap_or_default().to_owned())
            .join(" ")
    };
    let mut rows: Vec<String> = history.as_array().unwrap().iter().map(row).collect();
    rows.sort_unstable();
    rows
}

#[test]
fn history_is_shown_for_runs_and_child_runs() {
    let (fuel, succeeded, failed) = two_runs();
    let expected = ["a 1 ready", "a 2 ready", "a 3 ready", "b 1 error", "c 1 skipped"];
    let child = fuel.column("task list -n deployment", "id")[1].as_i64().unwrap();
    for id in [failed, child] {
        assert_eq!(history_rows(&fuel.json(&format!("task history show {id}"))), expected, "{id}");
    }
    let history = fuel.json(&format!("task history show {failed} -t ready"));
    for row in history.as_array().unwrap() {
        assert!(row["time_start"].is_string() && row["time_end"].is_string(), "{row}");
    }
    for (filter, expected) in [
        ("-n 1", vec!["a 1 ready", "b 1 error", "c 1 skipped"]),
        ("-n 2 3", vec!["a 2 ready", "a 3 ready"]),
        ("-t error skipped", vec!["b 1 error", "c 1 skipped"]),
        ("-d b", vec!["b 1 error"]),
        ("-d a b -n 1 -t ready", vec!["a 1 ready"]),
        ("-t pending", vec![]),
        ("-n 77", vec![]),
        ("-d nothing", vec![]),
    ] {
        assert_eq!(
            history_rows(&fuel.json(&format!("task history show {failed} {filter}"))),
            expected,
            "{filter}"
        );
    }
    let grouped = fuel.json(&format!("task history show {failed} -p"));
    let b = grouped.as_array().unwrap().iter().find(|row| row["task_name"] == "b").unwrap();
    for word in ["exit 3", "roles", "version", "requires"] {
        assert!(b["task_parameters"].as_str().unwrap().contains(word), "{word}: {b}");
    }
    assert!(b["status_by_node"].as_str().unwrap().starts_with("1 - error - 20"), "{b}");
    let with_summary = fuel.json(&format!("task history show {failed} --include-summary"));
    assert!(with_summary[0].as_object().unwrap().contains_key("summary"), "{with_summary}");
    fuel.ok(&format!("task history show {failed} -p --include-summary"));
    assert_eq!(fuel.json(&format!("task history show {succeeded} -t ready")).as_array().unwrap().len(), 4);
    fuel.rejected_with(404, "Transaction not found", "task history show 99");
    assert_eq!(fuel.run(&format!("task history show {failed} -t nonsense")).code, 2);
}

#[test]
fn inputs_of_a_run_are_downloaded() {
    let (fuel, succeeded, failed) = two_runs();
    let output = fuel.ok(&format!("task deployment-info download {succeeded}"));
    let name = format!("deployment_info_{succeeded}.yaml");
    assert_eq!(
        output,
        format!("Deployment info for task with id={succeeded} downloaded to {}\n", fuel.path(&name))
    );
    let info = fuel.read(&name);
    assert!(info.contains("common:") && info.contains("nodes:"), "{info}");
    fuel.ok(&format!("task settings download {failed} --file settings.yaml"));
    assert!(fuel.read("settings.yaml").contains("debug:"), "{}", fuel.read("settings.yaml"));
    fuel.ok(&format!("task network-configuration download {failed}"));
    fuel.read(&format!("network_configuration_{failed}.yaml"));
    for document in ["deployment-info", "settings", "network-configuration"] {
        fuel.rejected_with(404, "Transaction not found", &format!("task {document} download 99"));
    }
    assert!(
        fuel.rejected(&format!("task settings download {failed} --file none/settings.yaml"))
            .contains("none/settings.yaml")
    );
}
