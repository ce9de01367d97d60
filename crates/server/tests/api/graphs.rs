//! Graphs by owner, by ID and as task rows.

use std::time::Duration;

use axum::body::Body;
use futures_util::future::join_all;
use serde_json::{Value, json};
use stoker_testkit::real_data;

use crate::fixtures::begin_write;
use crate::owners::Owners;
use crate::support::{Reply, TestServer};

fn task(id: &str) -> Value {
    json!({"id": id, "type": "shell", "role": ["x"], "parameters": {"cmd": "true"}})
}

async fn send_yaml(server: &TestServer, method: &str, path: &str, text: &str) -> Reply {
    let request = server.request(method, path).header("content-type", "application/x-yaml");
    server.send(request.body(Body::from(text.to_owned())).unwrap()).await
}

#[tokio::test]
async fn graph_lifecycle_works_for_each_owner() {
    let server = TestServer::new().await;
    let owners = Owners::create(&server).await;
    for owner in [owners.release_path(), owners.cluster_path(), owners.plugin_path()] {
        let path = format!("{owner}/deployment_graphs/my-type/");
        let missing = server.get(&path).await;
        assert_eq!(missing.expect_error(404), "Graph with type: my-type is not defined");
        let body = json!({
            "name": "mine", "tasks": [task("a")], "node_filter": "$.status = ready", "on_stop": {},
            "on_definition_change": "keep",
        });
        let created = server.post(&path, &body).await.expect(200);
        assert_eq!((&created["name"], &created["type"]), (&json!("mine"), &json!("my-type")));
        assert_eq!(created["relations"][0]["type"], "my-type");
        assert_eq!(created["on_stop"], json!({}));
        assert_eq!(created["on_definition_change"], "keep");
        assert!(created.get("on_error").is_none());
        let error = server.post(&path, &body).await.expect_error(409);
        assert_eq!(error, "Deployment graph with type \"my-type\" already exist.");
        assert_eq!(server.get(&path).await.expect(200), created);
        let by_id = format!("graphs/{}", created["id"]);
        assert_eq!(server.get(&by_id).await.expect(200), created);

        let renamed = server.patch(&path, &json!({"name": "other"})).await.expect(200);
        assert_eq!((&renamed["id"], &renamed["tasks"]), (&created["id"], &created["tasks"]));
        let emptied = server.put(&by_id, &json!({"tasks": [], "node_filter": null})).await.expect(200);
        assert_eq!((&emptied["tasks"], emptied.get("node_filter")), (&json!([]), None));
        let reset = server.patch(&by_id, &json!({"on_definition_change": null})).await.expect(200);
        assert_eq!(reset.get("on_definition_change"), None);
        let wrong = server.patch(&by_id, &json!({"on_definition_change": "ignore"})).await;
        assert!(wrong.expect_error(400).contains("must be `rerun` or `keep`"));
        let list = server.get(&format!("{owner}/deployment_graphs/?fetch_related=1")).await.expect(200);
        assert!(list.as_array().unwrap().iter().any(|graph| graph["id"] == created["id"]));
        server.delete(&path).await.expect(204);
        server.delete(&path).await.expect_error(404);
        assert_eq!(server.get(&by_id).await.expect_error(404), "DeploymentGraph not found");
    }
}

#[tokio::test]
async fn graph_type_comes_from_body_or_is_default() {
    let server = TestServer::new().await;
    let owners = Owners::create(&server).await;
    let collection = format!("{}/deployment_graphs", owners.release_path());
    let typed = server.post(&collection, &json!({"type": "t1", "tasks": []})).await.expect(201);
    assert_eq!(typed["type"], "t1");
    let default = server.post(&collection, &json!([task("a")])).await.expect(201);
    assert_eq!(default["type"], "default");
    server.put(&collection, &json!({"name": "renamed"})).await.expect(200);
    assert_eq!(server.get(&format!("{collection}/default")).await.expect(200)["name"], "renamed");
    let differs = server.put(&format!("{collection}/t1"), &json!({"type": "t2"})).await.expect_error(400);
    assert_eq!(differs, "the path names graph type `t1`, the body `t2`; the type of a graph cannot change");
    server.post(&format!("{collection}/a.b"), &json!([])).await.expect_error(404);
    server.post(&collection, &json!({"type": "a b"})).await.expect_error(400);
    let owned = json!({"type": "t3", "model": "cluster", "model_id": owners.cluster, "tasks": [task("a")]});
    let by_graphs = server.post("graphs/", &owned).await.expect(201);
    assert_eq!(
        by_graphs["relations"],
        json!([{"type": "t3", "model": "cluster", "model_id": owners.cluster}])
    );
    assert!(server.post("graphs", &json!({"type": "t4"})).await.expect_error(400).contains("model_id"));
    let unknown_owner = json!({"type": "t5", "model": "cluster", "model_id": 999});
    assert_eq!(server.post("graphs", &unknown_owner).await.expect_error(404), "Cluster not found");
    let other_owner = json!({"model": "release", "model_id": owners.release});
    assert!(
        server
            .put(&format!("graphs/{}", by_graphs["id"]), &other_owner)
            .await
            .expect_error(400)
            .contains("cannot change")
    );
}

#[tokio::test]
async fn uploaded_tasks_round_trip() {
    let server = TestServer::new().await;
    let owners = Owners::create(&server).await;
    let path = format!("{}/deployment_graphs/falsy", owners.cluster_path());
    let falsy = json!({
        "id": "a", "type": "shell", "version": "2.1.0", "condition": false, "requires": [], "required_for": [],
        "parameters": {}, "groups": [], "tasks": [], "role": "*", "cross-depends": [], "cross_depended_by": [],
        "reexecute_on": [], "refresh_on": [], "test_pre": {}, "test_post": {}, "fail_on_error": false,
        "fault_tolerance": 0, "my_own": null, "nested": {"zero": 0, "no": false, "empty": ""},
    });
    let computed = json!({
        "id": "b", "type": {"yaql_exp": "'shell'"}, "requires": {"yaql_exp": "['a']"},
        "roles": {"yaql_exp": "$.roles"}, "condition": {"yaql_exp": "changed($.x)"},
        "parameters": {"yaql_exp": "{}"}, "groups": {"yaql_exp": "[]"}, "fault_tolerance": {"yaql_exp": "1"},
    });
    server.post(&path, &json!({"tasks": [falsy, computed]})).await.expect(200);
    let stored = server.get(&path).await.expect(200)["tasks"].clone();
    for (uploaded, stored_task) in [falsy, computed].iter().zip(stored.as_array().unwrap()) {
        for (field, value) in uploaded.as_object().unwrap() {
            assert_eq!(stored_task.get(field), Some(value), "{field}");
        }
    }
    assert_eq!(stored[0]["roles"], "*");
    assert_eq!(stored[0]["cross_depends"], json!([]));
    assert_eq!(stored[1].get("version"), None, "a version that was not given");
    assert_eq!(stored[1]["task_name"], "b");
    server.put(&path, &json!({"tasks": stored})).await.expect(200);
    assert_eq!(server.get(&path).await.expect(200)["tasks"], stored, "a GET response is a valid PUT body");
}

#[tokio::test]
async fn unchanged_tasks_keep_row_ids() {
    let server = TestServer::new().await;
    let owners = Owners::create(&server).await;
    let path = format!("{}/deployment_graphs/rows", owners.release_path());
    let graph = server.post(&path, &json!([task("a"), task("b"), task("c")])).await.expect(200);
    let rows = format!("graphs/{}/tasks/", graph["id"]);
    let before = server.get(&rows).await.expect(200);
    let mut changed = task("b");
    changed["parameters"]["cmd"] = json!("false");
    server.put(&rows, &json!([task("c"), changed, task("d"), task("a")])).await.expect(200);
    let after = server.get(&rows).await.expect(200);
    let row = |rows: &Value, id: &str| {
        rows.as_array().unwrap().iter().find(|row| row["id"] == id).map(|row| row["db_id"].clone())
    };
    assert_eq!(row(&before, "a"), row(&after, "a"));
    assert_eq!(row(&before, "c"), row(&after, "c"));
    assert_ne!(row(&before, "b"), row(&after, "b"));
    assert_eq!(after[0]["id"], "c", "in the order of the upload");

    let by_row = format!("{rows}{}", row(&after, "d").unwrap());
    assert_eq!(server.get(&by_row).await.expect(200), server.get(&format!("{rows}d")).await.expect(200));
    let clash = server.put(&by_row, &task("a")).await.expect_error(400);
    assert_eq!(clash, "Tasks duplication found: a");
    let put = server.put(&by_row, &task("e")).await.expect(200);
    assert_ne!(Some(put["db_id"].clone()), row(&after, "d"));
    server.get(&by_row).await.expect_error(404);
    server.delete(&format!("{rows}e")).await.expect(204);
    assert_eq!(server.get(&rows).await.expect(200).as_array().unwrap().len(), 3);
    let named_by_two = json!({"id": "a", "type": "shell", "role": "x", "roles": "y"});
    assert!(server.put(&format!("{rows}a"), &named_by_two).await.expect_error(400).contains("role"));
}

#[tokio::test]
async fn invalid_graph_is_reported_with_lines_and_not_stored() {
    let server = TestServer::new().await;
    let owners = Owners::create(&server).await;
    let path = format!("{}/deployment_graphs/bad", owners.release_path());
    let text = "\
name: 5
extra: 1
tasks:
- id: a
  type: shel
  requires: b
- id: a
  type: shell
  condition: {yaql_exp: '$.a +'}
  version: 1x2x3
";
    let reply = send_yaml(&server, "POST", &path, text).await.expect(400);
    let locations: Vec<String> = reply["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| format!("{}@{}", error["path"].as_str().unwrap(), error["line"]))
        .collect();
    assert_eq!(
        locations,
        [
            "tasks@null",
            "name@1",
            "extra@2",
            "tasks[0].type@5",
            "tasks[0].requires@6",
            "tasks[1].id@7",
            "tasks[1].condition.yaql_exp@9",
            "tasks[1].version@10"
        ]
    );
    assert!(reply["message"].as_str().unwrap().contains("Tasks duplication found: a"));
    for body in
        [json!({"tasks": null}), json!({"tasks": "x"}), json!({"tasks": [1]}), json!(5), json!({"nodes": []})]
    {
        server.post(&path, &body).await.expect_error(400);
    }
    server.get(&path).await.expect_error(404);
    // The body is validated before the owner is looked up.
    server.post("clusters/999/deployment_graphs/x", &json!({"nodes": []})).await.expect_error(400);
    server.post("clusters/999/deployment_graphs/x", &json!([])).await.expect_error(404);
}

#[tokio::test]
async fn concurrent_update_with_same_etag_is_refused() {
    let server = TestServer::new().await;
    let owners = Owners::create(&server).await;
    let path = format!("{}/deployment_graphs/default", owners.release_path());
    let created = server.post(&path, &json!([task("a")])).await;
    let version = created.header("etag").to_owned();
    created.expect(200);
    let put = |tasks: Value| {
        let request = server.request("PUT", &path).header("if-match", &version);
        server.send(request.body(Body::from(tasks.to_string())).unwrap())
    };
    let (one, two) = tokio::join!(put(json!([task("a"), task("b")])), put(json!([task("a"), task("c")])));
    let mut statuses = [one.status, two.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 412]);

    // A recreated graph has another ETag.
    server.delete(&path).await.expect(204);
    server.post(&path, &json!([task("theirs")])).await.expect(200);
    put(json!([])).await.expect_error(412);
    let request = server.request("PUT", "releases/1/deployment_tasks").header("if-match", &version);
    server.send(request.body(Body::from("[]")).unwrap()).await.expect_error(412);
}

#[tokio::test]
async fn uploads_are_checked_without_the_writer_lock() {
    let server = TestServer::new().await;
    let owners = Owners::create(&server).await;
    let path = format!("{}/deployment_graphs/default", owners.release_path());
    let requires = |id: &str, other: &str| {
        let mut task = task(id);
        task["requires"] = json!([other]);
        task
    };
    let (first, second) = (requires("a", "b"), requires("b", "a"));
    let graph = server.post(&path, &json!([task("a"), second])).await.expect(200);
    let by_id = format!("graphs/{}", graph["id"]);
    let cycle = json!([first, second]);
    let writer = begin_write(&server).await;
    let checks = async {
        server.put(&path, &json!({"tasks": cycle})).await.expect_error(400);
        server.put(&by_id, &json!({"tasks": cycle})).await.expect_error(400);
        server.put(&format!("{by_id}/tasks"), &cycle).await.expect_error(400);
        server.put(&format!("{by_id}/tasks/a"), &first).await.expect_error(400);
    };
    tokio::time::timeout(Duration::from_secs(5), checks).await.expect("checks wait for the writer lock");
    drop(writer);
    assert_eq!(server.get(&by_id).await.expect(200), graph);
}

#[tokio::test]
async fn concurrent_edits_of_tasks_are_all_stored_or_refused() {
    let server = TestServer::new().await;
    let owners = Owners::create(&server).await;
    let path = format!("{}/deployment_graphs/default", owners.release_path());
    let names = ["a", "b", "c", "d", "e", "f"];
    let created = server.post(&path, &json!(names.map(task))).await;
    let version = created.header("etag").to_owned();
    let id = created.expect(200)["id"].clone();
    let edit = |name: &'static str, version: Option<&str>| {
        let mut new = task(name);
        new["parameters"]["cmd"] = json!(format!("echo {name}"));
        let mut request = server.request("PUT", &format!("graphs/{id}/tasks/{name}"));
        if let Some(version) = version {
            request = request.header("if-match", version);
        }
        server.send(request.body(Body::from(new.to_string())).unwrap())
    };
    // All edits are derived from the first version; each is repeated with the changes of the others.
    for reply in join_all(names.map(|name| edit(name, None))).await {
        reply.expect(200);
    }
    let tasks = server.get(&format!("graphs/{id}/tasks")).await;
    let newer = tasks.header("etag").to_owned();
    for (stored, name) in tasks.expect(200).as_array().unwrap().iter().zip(names) {
        assert_eq!(stored["parameters"]["cmd"], format!("echo {name}"));
    }
    // An edit that names a version is rejected if that version is not current.
    assert_eq!(edit("a", Some(&version)).await.status, 412);
    let new = |name: &str| json!([task(name)]);
    let replace = |name: &'static str| {
        let request = server.request("PUT", &format!("graphs/{id}/tasks")).header("if-match", &newer);
        server.send(request.body(Body::from(new(name).to_string())).unwrap())
    };
    let replies = join_all(names.map(replace)).await;
    assert_eq!(replies.iter().filter(|reply| reply.status == 200).count(), 1);
    assert_eq!(replies.iter().filter(|reply| reply.status == 412).count(), names.len() - 1);
}

#[tokio::test]
async fn graph_type_comes_from_query() {
    let server = TestServer::new().await;
    let owners = Owners::create(&server).await;
    let collection = format!("{}/deployment_graphs/", owners.cluster_path());
    let created = server.post(&format!("{collection}?type=t1"), &json!([])).await.expect(201);
    assert_eq!(created["type"], "t1");
    let changed = server.put(&format!("{collection}?graph_type=t1"), &json!({"name": "n"})).await.expect(200);
    assert_eq!((&changed["id"], &changed["name"]), (&created["id"], &json!("n")));
    server.post(&format!("{collection}?type=t1"), &json!({"type": "t2"})).await.expect_error(400);
}

#[tokio::test]
async fn graph_list_is_filtered_and_paginated() {
    let server = TestServer::new().await;
    let owners = Owners::create(&server).await;
    for (owner, name) in [
        (owners.release_path(), "a"),
        (owners.cluster_path(), "a"),
        (owners.cluster_path(), "b"),
        (owners.plugin_path(), "a"),
    ] {
        server.post(&format!("{owner}/deployment_graphs/{name}"), &json!([])).await.expect(200);
    }
    owners.enable_plugin(&server).await;
    let count = async |query: &str| {
        let reply = server.get(&format!("graphs/?{query}")).await.expect(200);
        reply.as_array().unwrap().len()
    };
    assert_eq!(count("").await, 4);
    assert_eq!(count("graph_types=a").await, 3);
    assert_eq!(count(&format!("clusters_ids={}", owners.cluster)).await, 2);
    assert_eq!(count(&format!("clusters_ids={}&graph_types=b", owners.cluster)).await, 1);
    assert_eq!(count(&format!("clusters_ids={}&fetch_related=1", owners.cluster)).await, 4);
    assert_eq!(count(&format!("releases_ids={}&plugins_ids={}", owners.release, owners.plugin)).await, 2);
    assert_eq!(count("clusters_ids=999").await, 0);
    assert_eq!(count("limit=3&offset=2&order_by=-id").await, 2);
    server.get("graphs?clusters_ids=x").await.expect_error(400);
}

#[tokio::test]
async fn real_graphs_round_trip() {
    for (name, n_tasks) in
        [("default-graph.yaml", 204), ("provision__tasks.yaml", 10), ("deletion__tasks.yaml", 5)]
    {
        let Some(path) = real_data(&format!("fuel-library/{name}")) else { return };
        let text = std::fs::read_to_string(path).unwrap();
        let server = TestServer::new().await;
        let owners = Owners::create(&server).await;
        let graph = format!("{}/deployment_graphs/real", owners.release_path());
        let created = send_yaml(&server, "POST", &graph, &text).await.expect(200);
        assert_eq!(created["tasks"].as_array().unwrap().len(), n_tasks);
        let yaml =
            server.request("GET", &graph).header("accept", "application/x-yaml").body(Body::empty()).unwrap();
        let downloaded = server.send(yaml).await.expect(200);
        let updated = send_yaml(&server, "PUT", &graph, downloaded.as_str().unwrap()).await.expect(200);
        assert_eq!(updated["tasks"], created["tasks"]);
        let findings = server.get(&format!("{graph}/check")).await.expect(200);
        let errors =
            findings.as_array().unwrap().iter().filter(|finding| finding["severity"] == "error").count();
        assert_eq!(errors, 0, "{findings}");
    }
}

/// Responses to uploads contain warnings with line numbers; errors have a severity too.
#[tokio::test]
async fn upload_response_contains_warnings() {
    let server = TestServer::new().await;
    let owners = Owners::create(&server).await;
    let path = format!("{}/deployment_graphs/t?file=my%20tasks.yaml", owners.release_path());
    let text = "- id: a\n  type: shell\n  role: x\n  retires: 1\n  condition:\n    yaql_exp: nowhere($.x)\n";
    let created = send_yaml(&server, "POST", &path, text).await.expect(200);
    let warnings: Vec<(&Value, &Value, &Value, &Value)> = created["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|warning_entry| {
            (
                &warning_entry["severity"],
                &warning_entry["code"],
                &warning_entry["file"],
                &warning_entry["line"],
            )
        })
        .collect();
    let warning = json!("warning");
    let (file, key, function) =
        (json!("my tasks.yaml"), json!("manifest-unknown-key"), json!("graph-unknown-function"));
    assert_eq!(warnings, [(&warning, &key, &file, &json!(4)), (&warning, &function, &file, &json!(5))]);
    // Warnings are not stored with the graph.
    let stored = server.get(path.split('?').next().unwrap()).await.expect(200);
    assert!(stored.get("warnings").is_none());
    let response = send_yaml(&server, "PUT", &path, "- {id: a, type: shel}\n").await.expect(400);
    assert_eq!(response["errors"][0]["severity"], "error");
    let reply = send_yaml(&server, "PUT", &path.replace("my%20tasks.yaml", "a%0Ab"), text).await;
    assert!(reply.expect_error(400).contains("?file"));
}
