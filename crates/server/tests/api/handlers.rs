//! Handlers over several runs: a pending trigger is not lost.

use serde_json::{Value, json};

use crate::beginnings::id;
use crate::runs::{Site, task};

/// A task on the controller whose command follows the setting `debug`, and handlers on both nodes.
fn graph(on_debug: &str, otherwise: &str) -> Value {
    json!([
        task(
            "config",
            json!(["controller"]),
            "",
            json!({
                "condition": {"yaql_exp": "changed($.settings.common.debug.value)"},
                "parameters": {
                    "cmd": {"yaql_exp": format!("switch($.settings.common.debug.value => '{on_debug}', true => '{otherwise}')")},
                    "retries": 0, "timeout": 30,
                },
            })
        ),
        task("reload", json!(["controller"]), "reload", json!({"refresh_on": ["config"]})),
        task(
            "balance",
            json!(["compute"]),
            "balance",
            json!({
                "refresh_on": [{"name": "config", "role": "controller"}],
            })
        ),
    ])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handlers_run_after_a_change_and_rest_otherwise() {
    let site = Site::new(&graph("change nothing", "write")).await;
    let [one, two] = site.nodes;
    let handlers = [format!("balance@{two}"), format!("reload@{one}")];
    let plan = site.server.post(&format!("clusters/{}/plans", site.cluster), &json!({})).await.expect(201);
    let matrix = site.server.get(&format!("plans/{}/matrix?runs_only=1", plan["id"])).await.expect(200);
    let rows = matrix["tasks"].as_array().unwrap().iter().zip(matrix["cells"].as_array().unwrap());
    let rows: Vec<(&str, &str)> =
        rows.map(|(task, row)| (task.as_str().unwrap(), row.as_str().unwrap())).collect();
    assert_eq!(rows, [("config", "p."), ("balance", ".h"), ("reload", "h.")]);
    let sorted = |mut attempts: Vec<String>| {
        attempts.sort();
        attempts
    };

    // The first command changes something.
    let run = site.deploy(json!({})).await;
    assert_eq!(run["status"], "ready");
    let mut expected = handlers.to_vec();
    expected.insert(1, format!("config@{one}"));
    assert_eq!(sorted(site.attempts.take()), expected);
    assert_eq!(site.planned(json!({})).await, Vec::<String>::new());

    // The second one does not.
    site.set_debug(true).await;
    let run = site.deploy(json!({})).await;
    assert_eq!(run["status"], "ready");
    assert_eq!(site.attempts.take(), [format!("config@{one}")]);
    let history = site.server.get(&format!("transactions/{}/deployment_history", id(&run))).await.expect(200);
    let reload = history.as_array().unwrap().iter().find(|row| row["task_name"] == "reload").unwrap();
    assert_eq!(
        (&reload["status"], &reload["reason"]),
        (&json!("skipped"), &json!("none of its triggers changed anything"))
    );
    assert_eq!(site.planned(json!({})).await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trigger_survives_a_partial_run_and_a_failure() {
    let site = Site::new(&graph("write", "write")).await;
    let [one, two] = site.nodes;
    site.deploy(json!({})).await;
    site.set_debug(true).await;
    site.deploy(json!({"graphs": [{"type": "default", "tasks": ["config"]}]})).await;
    let both = [format!("balance@{two}"), format!("reload@{one}")];
    assert_eq!(site.planned(json!({})).await, both, "the handlers were not part of the run");
    let plan = site.server.post(&format!("clusters/{}/plans", site.cluster), &json!({})).await.expect(201);
    let instances = site.server.get(&format!("plans/{}/instances?action=run", plan["id"])).await.expect(200);
    let reason = "one of its triggers changed something, and it has not succeeded since";
    assert!(instances.as_array().unwrap().iter().all(|row| row["reason"] == reason), "{instances}");
    let (run, attempts) = (site.deploy(json!({})).await, site.attempts.take());
    assert_eq!(run["status"], "ready", "{attempts:?}");
    assert_eq!(site.planned(json!({})).await, Vec::<String>::new());

    // The trigger fails after it may have changed something; its next attempt finds nothing left to change.
    site.upload("default", &graph("change nothing", "fail")).await;
    site.set_debug(false).await;
    assert_eq!(site.deploy(json!({})).await["status"], "error");
    assert!(!site.attempts.take().contains(&both[1]));
    site.set_debug(true).await;
    assert_eq!(site.deploy(json!({})).await["status"], "ready");
    let mut attempts = site.attempts.take();
    attempts.sort();
    assert_eq!(attempts, [both[0].clone(), format!("config@{one}"), both[1].clone()]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_retry_runs_the_handler_that_failed() {
    let failing = |cmd: &str| {
        let mut graph = graph("write", "write");
        graph[1]["parameters"]["cmd"] = json!(cmd);
        graph
    };
    let site = Site::new(&failing("fail")).await;
    let [one, _] = site.nodes;
    let run = site.deploy(json!({})).await;
    assert_eq!(run["status"], "error");
    site.attempts.take();
    let retried = site.server.post(&format!("runs/{}/retry", id(&run)), &json!({})).await.expect(202);
    assert_eq!(site.wait_for_end(id(&retried)).await["status"], "error", "it fails again");
    assert!(site.attempts.take().contains(&format!("reload@{one}")));
}
