//! The web UI and its endpoints: pages served beside the API, paginated matrices, expression evaluation.

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};

use crate::runs::Site;
use crate::support::{Reply, TestServer};

async fn get_with_accept(server: &TestServer, path: &str, accept: &str) -> Reply {
    let request = Request::get(path).header("accept", accept).body(Body::empty()).unwrap();
    server.send(request).await
}

#[tokio::test]
async fn html_or_json_is_selected_by_accept_header() {
    let server = TestServer::new().await;
    let browser = "text/html,application/xhtml+xml,*/*;q=0.8";
    for path in ["/", "/clusters", "/clusters/1/nodes?q=a", "/runs/7", "/no/such/page"] {
        let page = get_with_accept(&server, path, browser).await;
        assert_eq!(page.status, 200, "{path}");
        assert_eq!(page.header("content-type"), "text/html; charset=utf-8", "{path}");
        assert_eq!(page.header("cache-control"), "no-cache");
        let policy = page.header("content-security-policy");
        assert!(
            policy.contains("script-src 'self'") && policy.contains("frame-ancestors 'none'"),
            "{policy}"
        );
        assert!(!policy.contains("unsafe"), "{policy}");
    }
    assert_eq!(get_with_accept(&server, "/clusters", "application/json").await.status, 401);
    assert_eq!(get_with_accept(&server, "/assets/no-such-file.js", "*/*").await.status, 404);
    assert_eq!(get_with_accept(&server, "/assets/../Cargo.toml", browser).await.status, 404);
    assert_eq!(get_with_accept(&server, "/api/v1/no-such-thing", browser).await.status, 404);
}

fn graph() -> Value {
    let task = |id: &str, requires: Value, cmd: &str| {
        json!({"id": id, "type": "shell", "version": "2.1.0", "roles": ["*"], "requires": requires,
               "parameters": {"cmd": cmd}})
    };
    json!([task("a-last", json!(["z-first"]), "true"), task("z-first", json!([]), "true")])
}

#[tokio::test]
async fn plan_matrix_is_paginated_in_execution_order() {
    let site = Site::new(&graph()).await;
    let plan = site.server.post(&format!("clusters/{}/plans", site.cluster), &json!({})).await.expect(201);
    let path = format!("plans/{}/matrix", plan["id"]);
    let matrix = site.server.get(&path).await.expect(200);
    assert_eq!(matrix["tasks"], json!(["z-first", "a-last"]));
    assert_eq!(matrix["cells"], json!(["pp", "pp"]));
    let name = async |id: i64| site.server.get(&format!("nodes/{id}")).await.expect(200)["name"].clone();
    let names = json!([name(site.nodes[0]).await, name(site.nodes[1]).await]);
    assert_eq!(matrix["names"], names);
    let window =
        site.server.get(&format!("{path}?task_offset=1&node_offset=1&node_limit=5")).await.expect(200);
    assert_eq!(window["tasks"], json!(["a-last"]));
    assert_eq!(window["nodes"], json!([site.nodes[1].to_string()]));
    assert_eq!((&window["n_tasks"], &window["n_nodes"]), (&json!(2), &json!(2)));
    let beyond = site.server.get(&format!("{path}?task_offset=99&node_offset=99")).await.expect(200);
    assert_eq!((&beyond["tasks"], &beyond["cells"]), (&json!([]), &json!([])));
    let filtered = site.server.get(&format!("{path}?search=FIRST&nodes={}", site.nodes[0])).await.expect(200);
    assert_eq!((&filtered["tasks"], &filtered["cells"]), (&json!(["z-first"]), &json!(["p"])));
    site.server.get(&format!("{path}?task_limit=many")).await.expect_error(400);
    site.server.get("plans/999/matrix").await.expect_error(404);
}

#[tokio::test]
async fn run_matrix_contains_instance_outcomes() {
    let task = |id: &str, role: &str, requires: Value, cmd: &str| {
        json!({"id": id, "type": "shell", "version": "2.1.0", "roles": [role], "requires": requires,
               "parameters": {"cmd": cmd}})
    };
    let site = Site::new(&json!([
        task("after", "compute", json!(["bad"]), "true"),
        task("bad", "compute", json!([]), "fail"),
        task("good", "controller", json!([]), "true"),
    ]))
    .await;
    let run = site.deploy(json!({})).await;
    let matrix = site.server.get(&format!("runs/{}/matrix", run["id"])).await.expect(200);
    assert_eq!(matrix["tasks"], json!(["bad", "good", "after"]));
    assert_eq!(matrix["cells"], json!([".f", "s.", ".b"]));
}

#[tokio::test]
async fn dry_run_validates_tasks_without_storing() {
    let site = Site::new(&graph()).await;
    let path = format!("clusters/{}/deployment_tasks", site.cluster);
    let good = json!([{"id": "new", "type": "shell", "roles": "*", "parameters": {"cmd": "true"}}]);
    let validated = site.server.put(&format!("{path}?graph_type=x&dry_run=1"), &good).await.expect(200);
    assert_eq!(validated[0]["id"], "new");
    let stored = site.server.get(&format!("{path}/own?graph_type=x")).await.expect(200);
    assert_eq!(stored, json!([]));
    let bad = json!([{"id": "new", "type": "shel"}]);
    site.server.put(&format!("{path}?graph_type=x&dry_run=1"), &bad).await.expect_error(400);
    site.server.put("clusters/999/deployment_tasks?dry_run=1", &good).await.expect_error(404);
}

#[tokio::test]
async fn expressions_are_evaluated_on_node_state() {
    let site = Site::new(&graph()).await;
    let evaluate = async |body: Value| site.server.post("yaql/evaluate", &body).await;
    let on_node =
        |expression: &str| json!({"expression": expression, "cluster": site.cluster, "node": site.nodes[0]});
    let uid = evaluate(on_node("$.uid")).await.expect(200);
    assert_eq!((&uid["value"], &uid["reads"]), (&json!(site.nodes[0].to_string()), &json!(["$.uid"])));
    let changed = evaluate(on_node("changed($.uid)")).await.expect(200);
    assert_eq!(changed["value"], true, "the node has no previous success");

    let with_data = evaluate(json!({"expression": "$.a + 1", "data": {"a": 2}})).await.expect(200);
    assert_eq!((&with_data["value"], &with_data["error"]), (&json!(3), &Value::Null));
    assert_eq!(
        with_data["explanation"]["parts"][0],
        json!({"text": "$.a", "count": 1, "values": ["2"], "error": null, "parts": []})
    );

    let invalid = evaluate(json!({"expression": "$.a +"})).await.expect(200);
    assert!(invalid["error"]["message"].is_string() && invalid["explanation"].is_null(), "{invalid}");
    let failed = evaluate(json!({"expression": "1 / 0"})).await.expect(200);
    assert!(failed["error"]["message"].is_string() && failed["explanation"].is_object(), "{failed}");
    let endless = evaluate(json!({"expression": "range(100000000).select($ * $).sum()"})).await.expect(200);
    assert!(endless["error"].is_object(), "{endless}");

    for body in [
        json!({}),
        json!({"expression": ""}),
        json!({"expression": "1", "cluster": site.cluster}),
        json!({"expression": "1", "cluster": site.cluster, "node": 999}),
        json!({"expression": "1", "cluster": 999, "node": 1}),
        json!({"expression": "1", "data": [1]}),
        json!({"expression": "1", "dta": {}}),
    ] {
        evaluate(body.clone()).await.expect_error(400);
    }
}

#[tokio::test]
async fn yaql_functions_are_listed() {
    let server = TestServer::new().await;
    let functions = server.get("yaql/functions").await.expect(200);
    let names: Vec<&str> =
        functions.as_array().unwrap().iter().map(|function| function["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"where") && names.contains(&"changed") && names.contains(&"+"), "{names:?}");
}
