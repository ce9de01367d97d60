//! The order of plugins' stage tasks.

use serde_json::{Value, json};

use crate::component_fixtures::{
    create, plugin_body, post_cluster, release_with_components, set_plugins_enabled, with_fields,
};
use crate::fixtures::set_stage_tasks;
use crate::support::TestServer;

fn plugin_with_stages(name: &str, stages: &[&str]) -> Value {
    let task = |stage: &&str| json!({"type": "shell", "role": "*", "stage": stage, "parameters": {"cmd": "x", "timeout": 5}});
    with_fields(plugin_body(name, "1.0.0"), json!({"tasks": stages.iter().map(task).collect::<Vec<_>>()}))
}

/// Returns the order of stage tasks in a cluster with all these plugins enabled.
async fn get_task_order(plugins: &[Value]) -> Value {
    let server = TestServer::new().await;
    create(&server, "releases", &release_with_components()).await;
    for plugin in plugins {
        create(&server, "plugins", plugin).await;
    }
    post_cluster(&server, json!({})).await.expect(201);
    let names: Vec<(&str, bool)> =
        plugins.iter().map(|plugin| (plugin["name"].as_str().unwrap(), true)).collect();
    set_plugins_enabled(&server, 1, &names).await.expect(200);
    server.get("clusters/1/plugins/order/").await.expect(200)
}

fn plugin_indexes(order: &Value) -> Vec<(&str, i64)> {
    let tasks = order["tasks"].as_array().unwrap();
    tasks.iter().map(|task| (task["plugin"].as_str().unwrap(), task["index"].as_i64().unwrap())).collect()
}

#[tokio::test]
async fn stage_tasks_are_ordered_by_number_before_name() {
    let order = get_task_order(&[
        plugin_with_stages("a", &["pre_deployment/200"]),
        plugin_with_stages("z", &["pre_deployment/100"]),
    ])
    .await;
    assert_eq!(plugin_indexes(&order), [("z", 0), ("a", 0)]);
    assert_eq!(order["notes"], json!([]));
    assert_eq!(
        order["tasks"][0],
        json!({"position": 1, "plugin": "z", "version": "1.0.0", "id": "z-pre_deployment-100-1", "index": 0, "type": "shell",
               "stage": "pre_deployment", "number": 100.0, "range": "hardware", "tie": false})
    );
}

#[tokio::test]
async fn equal_stage_numbers_are_ordered_by_name() {
    let order = get_task_order(&[
        plugin_with_stages("z", &["post_deployment/8000"]),
        plugin_with_stages("a", &["post_deployment/8000.0", "pre_deployment"]),
    ])
    .await;
    assert_eq!(plugin_indexes(&order), [("a", 1), ("a", 0), ("z", 0)]);
    assert_eq!(order["tasks"][0]["number"], 0.0, "a missing number counts as 0");
    assert_eq!((&order["tasks"][1]["tie"], &order["tasks"][0]["tie"]), (&json!(true), &json!(false)));
    assert_eq!(
        order["notes"],
        json!([{"kind": "tie", "stage": "post_deployment/8000", "plugins": ["a", "z"],
                "message": "a, z have the same number at `post_deployment/8000` and are ordered by name"}])
    );
}

#[tokio::test]
async fn design_example_is_in_numeric_order() {
    let one = plugin_with_stages(
        "plugin1",
        &["post_deployment", "post_deployment/100", "post_deployment/-100", "post_deployment/-99.9"],
    );
    let two = plugin_with_stages(
        "plugin2",
        &["post_deployment", "post_deployment/100.0", "post_deployment/-101", "post_deployment/0"],
    );
    let order = get_task_order(&[one, two]).await;
    assert_eq!(
        plugin_indexes(&order),
        [
            ("plugin2", 2),
            ("plugin1", 2),
            ("plugin1", 3),
            ("plugin1", 0),
            ("plugin2", 0),
            ("plugin2", 3),
            ("plugin1", 1),
            ("plugin2", 1),
        ]
    );
}

#[tokio::test]
async fn reserved_ranges_are_noted_and_graph_tasks_are_included() {
    let plugin = with_fields(
        plugin_with_stages("b", &["pre_deployment/1500"]),
        json!({"deployment_tasks": [{"id": "late", "type": "puppet", "role": "*", "stage": "pre_deployment/-1"},
                                    {"id": "free", "type": "stage"}]}),
    );
    let order = get_task_order(&[plugin]).await;
    assert_eq!(plugin_indexes(&order), [("b", 1), ("b", 0)]);
    assert_eq!(
        (&order["tasks"][0]["id"], &order["tasks"][0]["type"], &order["tasks"][0]["range"]),
        (&json!("late"), &json!("puppet"), &json!("first"))
    );
    assert_eq!(
        (&order["notes"][0]["kind"], &order["notes"][0]["plugins"]),
        (&json!("reserved"), &json!(["b"]))
    );
}

#[tokio::test]
async fn invalid_stage_is_refused_with_path() {
    let server = TestServer::new().await;
    let bad = plugin_with_stages("bad", &["pre_deployment", "deploy", "pre_deployment/1e3"]);
    let response = server.post("plugins", &bad).await.expect(400);
    let errors: Vec<(&str, &str)> = response["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| (error["path"].as_str().unwrap(), error["code"].as_str().unwrap()))
        .collect();
    assert_eq!(errors, [("tasks[1].stage", "stage_unknown"), ("tasks[2].stage", "stage_bad_postfix")]);
    let old =
        with_fields(plugin_with_stages("old", &["pre_deployment/1"]), json!({"package_version": "1.0.0"}));
    let response = server.post("plugins", &old).await.expect(400);
    assert_eq!(response["errors"][0]["code"], "stage_postfix_not_allowed");
}

#[tokio::test]
async fn invalid_stage_does_not_hide_other_plugins() {
    let server = TestServer::new().await;
    create(&server, "releases", &release_with_components()).await;
    create(&server, "plugins", &plugin_with_stages("bad", &["pre_deployment/1"])).await;
    create(&server, "plugins", &plugin_with_stages("good", &["pre_deployment"])).await;
    let stages = [json!({"stage": "pre_deployment"}), json!({"stage": "pre_deployment/ten"})];
    set_stage_tasks(&server, 1, stages.to_vec()).await;
    post_cluster(&server, json!({})).await.expect(201);
    set_plugins_enabled(&server, 1, &[("bad", true), ("good", true)]).await.expect(200);
    let order = server.get("clusters/1/plugins/order").await.expect(200);
    assert_eq!(plugin_indexes(&order), [("good", 0)]);
    assert_eq!(
        order["errors"],
        json!([{"plugin": "bad", "task": 1, "code": "stage_bad_postfix",
                "message": "stage task 2 of plugin `bad`: its `stage` has no valid number after `/`"}])
    );
}

#[tokio::test]
async fn order_without_plugins_is_empty() {
    assert_eq!(get_task_order(&[]).await, json!({"tasks": [], "notes": [], "errors": []}));
    let server = TestServer::new().await;
    server.get("clusters/9/plugins/order").await.expect_error(404);
}
