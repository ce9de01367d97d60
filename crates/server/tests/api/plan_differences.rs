//! Changes that a plan describes: inputs old and new, warnings of the graph, the last run.

use serde_json::{Value, json};

use crate::beginnings::id;
use crate::runs::{Site, task};

/// Renders a setting into its command, on every node, and a constant that only the controller has.
fn tasks() -> Value {
    let inputs_changed = json!({"yaql_exp": "inputsChanged()"});
    let title = json!({
        "condition": inputs_changed,
        "parameters": {
            "cmd": {"yaql_exp": "concat('title ', str($.settings.common.debug.value))"},
            "password": "hunter2hunter2", "retries": 0, "timeout": 30,
        },
    });
    let own = json!({
        "condition": inputs_changed,
        "parameters": {"cmd": {"yaql_exp": "concat('node ', $.uid)"}, "retries": 0, "timeout": 30},
    });
    json!([task("title", json!("*"), "", title), task("own", json!("*"), "", own)])
}

impl Site {
    async fn new_plan(&self, request: Value) -> Value {
        let plan = self.server.post(&format!("clusters/{}/plans", self.cluster), &request).await.expect(201);
        self.server.get(&format!("plans/{}", plan["id"])).await.expect(200)
    }

    async fn differences(&self, plan: &Value) -> Value {
        self.server.get(&format!("plans/{}/differences", plan["id"])).await.expect(200)
    }

    async fn turn_debug(&self, value: bool) {
        let settings = json!({"editable": {"common": {"debug": {"value": value}}}});
        self.server.put(&format!("clusters/{}/attributes", self.cluster), &settings).await.expect(200);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plan_shows_old_and_new_inputs_of_running_instances() {
    let site = Site::new(&tasks()).await;
    let nodes = site.nodes.map(|node| node.to_string());
    let first = site.new_plan(json!({})).await;
    assert_eq!((&first["n_nodes"], &first["last_applied_at"]), (&json!(2), &json!(null)));
    let groups = site.differences(&first).await;
    let shown: Vec<_> =
        groups.as_array().unwrap().iter().map(|group| (&group["task"], &group["is_first"])).collect();
    assert_eq!(shown, [(&json!("own"), &json!(true)), (&json!("title"), &json!(true))], "{groups}");
    let run = site.deploy(json!({})).await;
    assert_eq!(run["status"], "ready");

    let second = site.new_plan(json!({})).await;
    assert_eq!(second["n_run"], 0);
    assert!(second["last_applied_at"].as_str() >= run["time_start"].as_str(), "{second}");
    assert_eq!(site.differences(&second).await, json!([]));

    site.turn_debug(true).await;
    let third = site.new_plan(json!({})).await;
    let groups = site.differences(&third).await;
    assert_eq!(groups.as_array().unwrap().len(), 1, "{groups}");
    let group = &groups[0];
    assert_eq!(
        (&group["task"], &group["nodes"], &group["n_nodes"]),
        (&json!("title"), &json!(nodes), &json!(2))
    );
    assert_eq!(group["differences"], json!([{"path": "cmd", "old": "title false", "new": "title true"}]));
    assert_eq!((&group["n_differences"], &group["is_first"]), (&json!(1), &json!(false)));

    // Without a difference, only the reason explains why the instances run.
    let forced = site.new_plan(json!({"force": true, "tasks": ["own"]})).await;
    let groups = site.differences(&forced).await;
    assert_eq!((&groups[0]["n_nodes"], &groups[0]["differences"]), (&json!(2), &json!([])), "{groups}");
    assert!(groups[0]["reason"].as_str().unwrap().contains("forced"), "{groups}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changed_secrets_are_differences_without_values() {
    let site = Site::new(&tasks()).await;
    site.deploy(json!({})).await;
    let mut changed = tasks();
    changed[0]["parameters"]["password"] = json!("correct-horse");
    site.upload("default", &changed).await;
    let plan = site.new_plan(json!({})).await;
    let groups = site.differences(&plan).await;
    let expected = json!([{"path": "password", "old": "(secret)", "new": "(secret)"}]);
    assert_eq!(groups[0]["differences"], expected, "{groups}");
    assert!(groups[0]["reason"].as_str().unwrap().contains("parameters.password"), "{groups}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn differences_are_paginated() {
    let site = Site::new(&tasks()).await;
    let plan = id(&site.new_plan(json!({})).await);
    let page = site.server.get(&format!("plans/{plan}/differences?limit=1&offset=1")).await;
    assert_eq!(page.header("content-range"), "objects 1-1/2");
    assert_eq!(page.expect(200)[0]["task"], "title");
    site.server.get(&format!("plans/{plan}/differences?offset=2")).await.expect_error(416);
    site.server.get(&format!("plans/{plan}/differences?limit=x")).await.expect_error(400);
    site.server.get("plans/99/differences").await.expect_error(404);
}

/// Warnings of the merged graph are warnings of its plans, with their layer and line.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plan_has_the_warnings_of_its_graph() {
    let never = json!({"condition": {"yaql_exp": "deleted($.nodes)"}});
    let site = Site::new(&json!([task("clean", json!("*"), "true", never)])).await;
    let warnings = |plan: &Value| -> Vec<Value> {
        let warnings = plan["warnings"].as_array().unwrap().iter();
        warnings.map(|warning| json!([warning["code"], warning["task"], warning["layer"]])).collect()
    };
    for _ in 0..2 {
        let plan = site.new_plan(json!({})).await;
        assert_eq!(warnings(&plan), [json!(["graph-never-first", "clean", "cluster"])], "{plan}");
    }
    site.upload("default", &json!([task("clean", json!("*"), "true", json!({}))])).await;
    assert_eq!(warnings(&site.new_plan(json!({})).await), Vec::<Value>::new());
}
