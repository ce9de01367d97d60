//! Overrides: layers that name only what they change, and downloads that change nothing when they are uploaded again.

use serde_json::{Value, json};
use stoker_testkit::real_graphs;

use crate::owners::Owners;
use crate::support::TestServer;

fn find<'v>(list: &'v Value, id: &str) -> &'v Value {
    list.as_array().unwrap().iter().find(|task| task["id"] == id).unwrap()
}

/// Returns the tasks of a graph with the IDs of their rows.
async fn rows(server: &TestServer, graph: &Value) -> Value {
    server.get(&format!("graphs/{}/tasks", graph["id"])).await.expect(200)
}

#[tokio::test]
async fn uploading_a_downloaded_graph_keeps_every_row() {
    let server = TestServer::new().await;
    let owners = Owners::create(&server).await;
    let override_ =
        json!([{"id": "a", "type": "shell", "parameters": {"cmd": "x"}}, {"id": "b", "condition": false}]);
    let mut graphs = vec![("override".to_owned(), override_)];
    for (name, path) in real_graphs() {
        let text = std::fs::read_to_string(path).unwrap();
        let node = stoker_manifest::parse(&text, stoker_manifest::Format::Yaml).unwrap();
        let tasks =
            stoker_manifest::reader::json(&node, &mut stoker_diagnostics::Diagnostics::default()).unwrap();
        graphs.push((name, tasks));
    }
    assert!(graphs.len() == 1 || graphs.len() >= 20, "{}", graphs.len());
    for owner in [owners.release_path(), owners.cluster_path(), owners.plugin_path()] {
        for (graph_type, tasks) in &graphs {
            // Tasks without a type override those of a lower layer.
            let is_override = tasks.as_array().unwrap().iter().any(|task| task["type"].is_null());
            if is_override && owner == owners.release_path() {
                continue;
            }
            let path = format!("{owner}/deployment_graphs/{graph_type}");
            let created = server.post(&path, &json!({"tasks": tasks})).await.expect(200);
            let before = rows(&server, &created).await;
            let downloaded = server.get(&path).await.expect(200);
            server.put(&path, &downloaded).await.expect(200);
            assert_eq!(rows(&server, &created).await, before, "{path}: the whole graph");
            server.put(&path, &json!({"tasks": downloaded["tasks"]})).await.expect(200);
            assert_eq!(rows(&server, &created).await, before, "{path}: the tasks");
            server.put(&format!("graphs/{}/tasks", created["id"]), &before).await.expect(200);
            assert_eq!(rows(&server, &created).await, before, "{path}: the rows");
        }
    }
    // Layers as the Fuel client downloads them, from the merged tasks.
    for (layer, owner) in [("own", owners.cluster_path()), ("release", owners.release_path())] {
        for (graph_type, _) in &graphs {
            let path = format!("{}/deployment_tasks/{layer}/?graph_type={graph_type}", owners.cluster_path());
            let downloaded = server.get(&path).await.expect(200);
            let graph = format!("{owner}/deployment_graphs/{graph_type}");
            if downloaded == json!([]) {
                continue;
            }
            let stored = server.get(&graph).await.expect(200);
            let before = rows(&server, &stored).await;
            server.put(&graph, &json!({"tasks": downloaded})).await.expect(200);
            assert_eq!(rows(&server, &stored).await, before, "{path}");
        }
    }
}

#[tokio::test]
async fn uploading_merged_plugin_tasks_keeps_every_row() {
    let server = TestServer::new().await;
    let owners = Owners::create(&server).await;
    owners.enable_plugin(&server).await;
    let tasks = json!([
        {"id": "copy", "type": "sync", "role": "*", "parameters": {"src": "/s", "dst": "/etc/fuel/plugins/add-on-1.0.0"}},
        {"id": "run", "type": "shell", "role": "*", "parameters": {"cmd": "./deploy.sh"}},
    ]);
    let graph = format!("{}/deployment_graphs/default", owners.plugin_path());
    let created = server.post(&graph, &json!({"tasks": tasks})).await.expect(200);
    let before = rows(&server, &created).await;
    let layer = format!("{}/deployment_tasks/plugins", owners.cluster_path());
    let downloaded = server.get(&layer).await.expect(200);
    assert_eq!(find(&downloaded, "run")["parameters"]["cwd"], "/etc/fuel/plugins/add-on-1.0.0/");
    server.put(&graph, &json!({"tasks": downloaded})).await.expect(200);
    assert_eq!(rows(&server, &created).await, before, "defaults are not stored");
    let mut edited = downloaded.clone();
    edited[1]["parameters"]["cwd"] = json!("/opt");
    server.put(&graph, &json!({"tasks": edited})).await.expect(200);
    assert_eq!(find(&rows(&server, &created).await, "run")["parameters"]["cwd"], "/opt");
}

#[tokio::test]
async fn downloaded_override_leaves_the_version_to_the_release() {
    let server = TestServer::new().await;
    let owners = Owners::create(&server).await;
    let release =
        json!([{"id": "a", "type": "shell", "version": "2.1.0", "role": "*", "parameters": {"cmd": "x"}}]);
    server.post(&format!("{}/deployment_graphs/default", owners.release_path()), &release).await.expect(200);
    let own = format!("{}/deployment_graphs/default", owners.cluster_path());
    server.post(&own, &json!([{"id": "a", "type": "shell", "parameters": {"cmd": "y"}}])).await.expect(200);
    let downloaded = server.get(&own).await.expect(200);
    server.put(&own, &downloaded).await.expect(200);
    let merged = server.get(&format!("{}/deployment_tasks", owners.cluster_path())).await.expect(200);
    assert_eq!((&merged[0]["version"], &merged[0]["parameters"]["cmd"]), (&json!("2.1.0"), &json!("y")));
}

#[tokio::test]
async fn override_may_omit_the_type() {
    let server = TestServer::new().await;
    let owners = Owners::create(&server).await;
    owners.enable_plugin(&server).await;
    let release_graph = format!("{}/deployment_graphs/default", owners.release_path());
    let tasks = json!([{"id": "install", "type": "shell", "role": "*", "parameters": {"cmd": "x"}}]);
    server.post(&release_graph, &tasks).await.expect(200);
    let override_ = |id: &str| json!([{"id": id, "parameters": {"cmd": "y"}}]);
    for owner in [owners.cluster_path(), owners.plugin_path()] {
        let graph = server.post(&format!("{owner}/deployment_graphs/default"), &override_("install")).await;
        let graph = graph.expect(200);
        assert_eq!((graph["tasks"][0].get("type"), graph.get("warnings")), (None, None), "{graph}");
    }
    let merged_path = format!("{}/deployment_tasks", owners.cluster_path());
    let merged = server.get(&merged_path).await.expect(200);
    assert_eq!((&merged[0]["type"], &merged[0]["parameters"]["cmd"]), (&json!("shell"), &json!("y")));
    assert_eq!(server.get(&format!("{merged_path}/check")).await.expect(200), json!([]));
    let plan = json!({"graph_type": "default"});
    let plans = format!("{}/plans", owners.cluster_path());
    server.post(&plans, &plan).await.expect(201);

    // A misspelt ID overrides nothing: its merge has no type.
    for owner in [owners.cluster_path(), owners.plugin_path()] {
        server
            .put(&format!("{owner}/deployment_graphs/default"), &json!({"tasks": override_("instal")}))
            .await
            .expect(200);
    }
    let expected =
        "`type` is missing in every layer that defines the task: the cluster, plugin `add-on` 1.0.0";
    let findings = server.get(&format!("{merged_path}/check")).await.expect(200);
    let finding = find_code(&findings, "graph-task-type");
    assert_eq!((&finding["severity"], &finding["message"]), (&json!("error"), &json!(expected)));
    assert_eq!(finding["help"], "did you mean task `install`?");
    let refused = server.post(&plans, &plan).await.expect(400);
    assert_eq!(refused["errors"].as_array().unwrap().len(), 1, "{refused}");
    assert!(refused["errors"][0]["message"].as_str().unwrap().contains(expected), "{refused}");
    assert_eq!(refused["errors"][0]["path"], "tasks.instal.type", "{refused}");

    // No layer is below a release.
    for (method, path, body) in [
        ("PUT", release_graph.clone(), json!({"tasks": override_("install")})),
        ("PUT", format!("{}/deployment_tasks", owners.release_path()), override_("install")),
        (
            "POST",
            format!("{}/deployment_graphs", owners.release_path()),
            json!({"type": "new", "tasks": override_("install")}),
        ),
        (
            "POST",
            "releases".to_owned(),
            json!({
                "name": "untyped", "version": "newton-10.0", "operating_system": "ubuntu",
                "deployment_tasks": override_("install"), "graphs": [{"type": "other", "tasks": override_("install")}],
            }),
        ),
    ] {
        let reply =
            if method == "PUT" { server.put(&path, &body).await } else { server.post(&path, &body).await };
        let error = reply.expect(400);
        let message = error["message"].as_str().unwrap();
        let expected = "`type` is missing, and no layer is below the release that could set it";
        assert!(message.contains("`install`") && message.contains(expected), "{method} {path}: {error}");
    }
    let stored = server.get(&release_graph).await.expect(200);
    assert_eq!(stored["tasks"][0]["type"], "shell");
}

fn find_code<'v>(findings: &'v Value, code: &str) -> &'v Value {
    let findings = findings.as_array().unwrap();
    findings.iter().find(|finding| finding["code"] == code).unwrap_or_else(|| panic!("{code}: {findings:?}"))
}

#[tokio::test]
async fn placement_of_a_later_layer_replaces_every_placement_field() {
    let server = TestServer::new().await;
    let owners = Owners::create(&server).await;
    let shell = |fields: Value| {
        let mut task = json!({"id": "a", "type": "shell", "parameters": {"cmd": "x"}});
        task.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        json!([task])
    };
    let release = format!("{}/deployment_tasks", owners.release_path());
    let cluster = format!("{}/deployment_tasks", owners.cluster_path());
    for (earlier, later, field, replaced) in [
        (json!({"tags": ["compute"]}), json!({"role": ["controller"]}), "roles", "tags"),
        (json!({"roles": ["compute"]}), json!({"groups": ["controller"]}), "groups", "roles"),
        (json!({"groups": ["compute"]}), json!({"tags": ["controller"]}), "tags", "groups"),
        (json!({"role": "compute"}), json!({"tags": "controller"}), "tags", "roles"),
    ] {
        server.put(&release, &shell(earlier.clone())).await.expect(200);
        let mut own = later.clone();
        own["id"] = json!("a");
        server.put(&cluster, &json!([own])).await.expect(200);
        let merged = server.get(&format!("{cluster}?provenance=1")).await.expect(200)[0].clone();
        assert_eq!(merged.get(replaced), None, "{earlier} {later}: {merged}");
        assert_eq!(merged[field], later[if later.get(field).is_some() { field } else { "role" }]);
        assert_eq!(
            merged["provenance"][field],
            json!({"layer": "cluster", "overrides": ["the release"]}),
            "{earlier} {later}"
        );
        let findings = server.get(&format!("{cluster}/check")).await.expect(200);
        let finding = find_code(&findings, "graph-replaced-placement");
        assert_eq!(
            finding["message"],
            format!("`{field}` of the cluster replaces `{replaced}` of the release")
        );
        assert_eq!((&finding["task"], &finding["path"]), (&json!("a"), &json!(field)));
    }
}

#[tokio::test]
async fn graph_names_its_owner_as_responses_show_it() {
    let server = TestServer::new().await;
    let owners = Owners::create(&server).await;
    let cluster = owners.cluster;
    let tasks = json!([{"id": "a", "type": "stage"}]);
    let by_id =
        server.post("graphs", &json!({"model_id": cluster, "type": "t1", "tasks": tasks})).await.expect(201);
    assert_eq!(by_id["relations"], json!([{"type": "t1", "model": "cluster", "model_id": cluster}]));

    // A downloaded graph can be created again after it was deleted.
    server.delete(&format!("graphs/{}", by_id["id"])).await.expect(204);
    let again = server.post("graphs", &by_id).await.expect(201);
    assert_eq!((&again["relations"], &again["tasks"]), (&by_id["relations"], &by_id["tasks"]));

    let relation =
        |graph_type: &str, model: &str, id: i64| json!({"type": graph_type, "model": model, "model_id": id});
    let of_release =
        server.post("graphs", &json!({"relations": [relation("t2", "release", owners.release)]})).await;
    assert_eq!(of_release.expect(201)["type"], "t2");
    let untyped = json!({"relations": [{"model_id": cluster}], "type": "t3"});
    assert_eq!(server.post("graphs", &untyped).await.expect(201)["relations"][0]["type"], "t3");
    for (body, expected) in [
        (json!({"type": "t4"}), "missing owner: set `model_id`"),
        (json!({"relations": []}), "missing owner: set `model_id`"),
        (json!({"relations": [relation("a", "cluster", 1), relation("b", "cluster", 1)]}), "exactly one"),
        (
            json!({"type": "t4", "relations": [relation("t5", "cluster", cluster)]}),
            "`relations` has type `t5`",
        ),
        (json!({"model_id": 99, "relations": [relation("t4", "cluster", cluster)]}), "different owners"),
        (json!({"relations": [{"model": "cluster"}]}), "`model_id` is missing"),
        (json!({"relations": [{"model_id": 1, "owner": 2}]}), "owner"),
        (json!({"relations": "x"}), "must be a list"),
        (json!({"model": "cluster"}), "`model` requires `model_id`"),
    ] {
        let error = server.post("graphs", &body).await.expect_error(400);
        assert!(error.contains(expected), "{body}: {error}");
    }
    // The path names the owner: relations of another owner are ignored, so that graphs can be copied.
    let copied =
        server.post(&format!("{}/deployment_graphs/t1", owners.release_path()), &by_id).await.expect(200);
    assert_eq!(copied["relations"][0]["model"], "release");
    assert_eq!(find(&copied["tasks"], "a")["type"], "stage");
}
