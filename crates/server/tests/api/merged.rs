//! Merged task graphs of a cluster's layers: release, cluster, plugins.

use serde_json::{Value, json};

use crate::fixtures::set_stage_tasks;
use crate::owners::Owners;
use crate::support::TestServer;

/// Creates three layers that all define the task `a`.
async fn create_layers(server: &TestServer) -> Owners {
    let owners = Owners::create(server).await;
    let graphs = [
        (
            owners.release_path(),
            json!([
                {"id": "a", "type": "shell", "requires": ["r"], "condition": true, "role": "controller"},
                {"id": "r", "type": "stage"},
            ]),
        ),
        (owners.cluster_path(), json!([{"id": "a", "type": "shell", "condition": false, "mine": 1}])),
        (
            owners.plugin_path(),
            json!([
                {"id": "a", "type": "puppet", "mine": 2},
                {"id": "p", "type": "shell", "role": "*", "parameters": {"cmd": "x"}},
            ]),
        ),
    ];
    for (owner, tasks) in graphs {
        server.post(&format!("{owner}/deployment_graphs/default"), &tasks).await.expect(200);
    }
    owners.enable_plugin(server).await;
    owners
}

fn find_task<'v>(tasks: &'v Value, id: &str) -> &'v Value {
    tasks.as_array().unwrap().iter().find(|task| task["id"] == id).unwrap()
}

fn ids(tasks: &Value) -> Vec<&str> {
    tasks.as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn plugin_attributes_override_cluster_and_release() {
    let server = TestServer::new().await;
    let owners = create_layers(&server).await;
    let base = format!("{}/deployment_tasks", owners.cluster_path());
    let merged = server.get(&base).await.expect(200);
    assert_eq!(ids(&merged), ["a", "r", "p"]);
    let a = find_task(&merged, "a");
    assert_eq!(
        (&a["type"], &a["condition"], &a["mine"], &a["requires"], &a["role"]),
        (&json!("puppet"), &json!(false), &json!(2), &json!(["r"]), &json!("controller"))
    );
    assert_eq!(find_task(&merged, "p")["parameters"], json!({"cmd": "x"}), "the plugin has no scripts");
    assert_eq!(find_task(&merged, "r").get("version"), None, "no layer sets a version");

    for (path, expected) in [
        ("/own/", vec!["a"]),
        ("/plugins", vec!["a", "p"]),
        ("/release", vec!["a", "r"]),
        ("?layers=release,cluster", vec!["a", "r"]),
        ("?layers=cluster,plugins&graph_type=default", vec!["a", "p"]),
        ("?type=default", vec!["a", "r", "p"]),
        ("?graph_type=", vec!["a", "r", "p"]),
        ("?graph_type=unheard-of", vec![]),
        ("?start=r", vec!["a", "r"]),
        ("?end=r&include=p", vec!["r", "p"]),
    ] {
        let tasks = server.get(&format!("{base}{path}")).await.expect(200);
        assert_eq!(ids(&tasks), expected, "{path}");
    }
    let two = server.get(&format!("{base}?layers=release,cluster")).await.expect(200);
    assert_eq!((&two[0]["type"], &two[0]["mine"]), (&json!("shell"), &json!(1)));
    server.get(&format!("{base}?layers=moon")).await.expect_error(400);
    server.get(&format!("{base}?type=a&graph_type=b")).await.expect_error(400);
    server.get(&format!("{base}?start=nowhere")).await.expect_error(400);
    server.get("clusters/999/deployment_tasks").await.expect_error(404);
    server.post(&base, &json!([])).await.expect(405);
}

#[tokio::test]
async fn provenance_names_the_layer_of_each_attribute() {
    let server = TestServer::new().await;
    let owners = create_layers(&server).await;
    let merged =
        server.get(&format!("{}/deployment_tasks?provenance=1", owners.cluster_path())).await.expect(200);
    let provenance = &find_task(&merged, "a")["provenance"];
    assert_eq!(
        provenance["type"],
        json!({"layer": "plugins", "plugin": "add-on", "version": "1.0.0", "overrides": ["the release", "the cluster"]})
    );
    assert_eq!(provenance["condition"], json!({"layer": "cluster", "overrides": ["the release"]}));
    assert_eq!(provenance["requires"], json!({"layer": "release"}));
}

#[tokio::test]
async fn legacy_merge_order_is_configurable() {
    use stoker_model::{MergeMode, MergeOrder};
    let settings = stoker_settings::Server {
        merge_order: MergeOrder::ReleasePluginsCluster,
        merge_mode: MergeMode::Replace,
        ..Default::default()
    };
    let server = TestServer::with_settings(settings).await;
    let owners = create_layers(&server).await;
    let merged = server.get(&format!("{}/deployment_tasks", owners.cluster_path())).await.expect(200);
    let a = find_task(&merged, "a");
    assert_eq!((&a["type"], &a["mine"], a.get("requires")), (&json!("shell"), &json!(1), None));
}

#[tokio::test]
async fn put_replaces_tasks_of_one_layer() {
    let server = TestServer::new().await;
    let owners = Owners::create(&server).await;
    for owner in [owners.cluster_path(), owners.release_path()] {
        let path = format!("{owner}/deployment_tasks?graph_type=new-one");
        let put = server.put(&path, &json!([{"id": "a", "type": "skipped"}])).await.expect(200);
        assert_eq!(ids(&put), ["a"]);
        server
            .put(&path, &json!([{"id": "a", "type": "skipped"}, {"id": "b", "type": "skipped"}]))
            .await
            .expect(200);
        let graph = server.get(&format!("{owner}/deployment_graphs/new-one")).await.expect(200);
        assert_eq!(ids(&graph["tasks"]), ["a", "b"]);
        server.put(&path, &json!({"id": 1})).await.expect_error(400);
    }
    let release_tasks = server
        .get(&format!("{}/deployment_tasks?graph_type=new-one", owners.release_path()))
        .await
        .expect(200);
    assert_eq!(ids(&release_tasks), ["a", "b"]);
}

#[tokio::test]
async fn check_reports_cross_layer_problems() {
    let server = TestServer::new().await;
    let owners = create_layers(&server).await;
    let cluster = format!("{}/deployment_graphs/default", owners.cluster_path());
    let cycle = json!([
        {"id": "x", "type": "shell", "role": "*", "requires": ["y"]},
        {"id": "y", "type": "shell", "role": "*", "requires": ["x"]},
    ]);
    let error = server.put(&cluster, &json!({"tasks": cycle})).await.expect(400);
    assert_eq!(error["errors"][0]["code"], "graph-cycle", "{error}");
    // A cycle across two layers is found by the check only.
    let release = format!("{}/deployment_graphs/default", owners.release_path());
    server.put(&release, &json!({"tasks": [cycle[0]]})).await.expect(200);
    let tasks = json!([
        {"id": "y", "type": "shell", "role": "*", "requires": ["x", "nowhere"]},
        {"id": "z", "type": "shell", "role": "controler"},
        {"id": "g", "type": "group", "role": "controller", "tasks": ["missing"]},
    ]);
    server.put(&cluster, &json!({"tasks": tasks})).await.expect(200);
    let findings = server.get(&format!("{}/deployment_tasks/check", owners.cluster_path())).await.expect(200);
    let codes: Vec<(&str, &str)> = findings
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| (finding["code"].as_str().unwrap(), finding["severity"].as_str().unwrap()))
        .collect();
    assert!(codes.contains(&("graph-cycle", "error")), "{findings}");
    assert!(codes.contains(&("graph-dangling-name", "warning")), "{findings}");
    assert!(codes.iter().any(|(code, _)| *code == "graph-unknown-place"), "{findings}");
    let cycle = findings.as_array().unwrap().iter().find(|finding| finding["code"] == "graph-cycle").unwrap();
    assert!(cycle["message"].as_str().unwrap().contains('x'), "{cycle}");
    let cluster_findings = server.get(&format!("{cluster}/check")).await.expect(200);
    let task_codes: Vec<(&str, &str)> = cluster_findings
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| (finding["task"].as_str().unwrap_or_default(), finding["code"].as_str().unwrap()))
        .collect();
    for expected in [("y", "graph-dangling-name"), ("z", "graph-unknown-place"), ("g", "graph-group-member")]
    {
        assert!(task_codes.contains(&expected), "{cluster_findings}");
    }
    let release_findings = server.get(&format!("{release}/check")).await.expect(200);
    assert_eq!(release_findings[0]["message"], "task `y` does not exist in this layer");
    server.get(&format!("{}/deployment_graphs/none/check", owners.cluster_path())).await.expect_error(404);
}

#[tokio::test]
async fn member_reads_only_graphs_of_its_tenant() {
    let server = TestServer::new().await;
    let owners = create_layers(&server).await;
    let stranger = server.create_user("eve", "green", "member").await;
    let member = server.create_user("mia", "of-owners", "member").await;
    let graph = server.get(&format!("{}/deployment_graphs/default", owners.cluster_path())).await.expect(200);
    for path in [
        format!("{}/deployment_tasks", owners.cluster_path()),
        format!("{}/deployment_tasks/check", owners.cluster_path()),
        format!("{}/deployment_graphs", owners.cluster_path()),
        format!("{}/deployment_graphs/default", owners.cluster_path()),
        format!("graphs/{}", graph["id"]),
        format!("graphs/{}/tasks", graph["id"]),
        format!("graphs/{}/tasks/a", graph["id"]),
    ] {
        server.send_as(&stranger, "GET", &path, &Value::Null).await.expect_error(404);
        server.send_as(&member, "GET", &path, &Value::Null).await.expect(200);
        server.send_as(&member, "PUT", &path, &json!({})).await.expect(if path.ends_with("check") {
            405
        } else {
            403
        });
    }
    let visible = server.send_as(&stranger, "GET", "graphs", &Value::Null).await.expect(200);
    assert_eq!(visible, json!([]));
    let named = server
        .send_as(&stranger, "GET", &format!("graphs?clusters_ids={}", owners.cluster), &Value::Null)
        .await;
    assert_eq!(named.expect(200), json!([]));
    let visible = server.send_as(&member, "GET", "graphs", &Value::Null).await.expect(200);
    assert_eq!(visible.as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn plugin_stage_tasks_are_merged_into_the_deployment() {
    let server = TestServer::new().await;
    let owners = Owners::create(&server).await;
    let stages = json!([
        {"id": "pre_deployment_end", "type": "stage"},
        {"id": "deploy_start", "type": "stage", "requires": ["pre_deployment_end"]},
    ]);
    server.post(&format!("{}/deployment_graphs/default", owners.release_path()), &stages).await.expect(200);
    let stage =
        |stage: &str| json!({"type": "shell", "role": "*", "stage": stage, "parameters": {"cmd": "x"}});
    let tasks = json!({"tasks": [stage("pre_deployment/20"), stage("pre_deployment/3")]});
    server.patch(&owners.plugin_path(), &tasks).await.expect(200);
    owners.enable_plugin(&server).await;
    let base = format!("{}/deployment_tasks", owners.cluster_path());
    let merged = server.get(&base).await.expect(200);
    let expected = [
        "pre_deployment_end",
        "deploy_start",
        "add-on-pre_deployment-3-1",
        "add-on-pre_deployment-3-1-done",
        "add-on-pre_deployment-20-1",
        "add-on-pre_deployment-20-1-done",
    ];
    assert_eq!(ids(&merged), expected);
    assert_eq!(find_task(&merged, expected[2])["parameters"].get("cwd"), None, "the plugin has no scripts");
    assert_eq!(find_task(&merged, expected[5])["required_for"], json!(["deploy_start"]));
    let plugin_tasks = server.get(&format!("{base}/plugins")).await.expect(200);
    assert_eq!(ids(&plugin_tasks), expected[2..], "the plugin layer alone has the same order");
    let other = server.get(&format!("{base}?graph_type=provision")).await.expect(200);
    assert_eq!(other, json!([]));
    assert_eq!(server.get(&format!("{base}/check")).await.expect(200), json!([]));

    server.patch(&owners.plugin_path(), &json!({"tasks": [stage("deploy/1")]})).await.expect_error(400);
    set_stage_tasks(&server, owners.plugin, vec![stage("deploy/1")]).await;
    assert_eq!(ids(&server.get(&base).await.expect(200)), expected[..2]);
    let findings = server.get(&format!("{base}/check")).await.expect(200);
    assert_eq!(
        (&findings[0]["code"], &findings[0]["plugin"], &findings[0]["severity"]),
        (&json!("graph-plugin-stage"), &json!("add-on-1.0.0"), &json!("error"))
    );
}

#[tokio::test]
async fn check_reports_unknown_functions() {
    let file = "functions:\n  - {name: isBig, parameters: [size], body: changed($.x) and $size > 10}\n";
    let helpers = [stoker_helpers::HelperFile { name: "own.yaml", text: file }];
    let library = stoker_helpers::load(&helpers, &stoker_planner::library()).library;
    let settings = stoker_settings::Server { library, ..stoker_settings::Server::default() };
    for (settings, n_unknown) in [(settings, 1), (stoker_settings::Server::default(), 2)] {
        let server = TestServer::with_settings(settings).await;
        let owners = Owners::create(&server).await;
        let text = "isBig($.size) and changed($.x) or isBg(1) and $.debug = True";
        let tasks = json!([{"id": "a", "type": "shell", "role": "*", "condition": {"yaql_exp": text}}]);
        let path = format!("{}/deployment_graphs/default", owners.release_path());
        server.post(&path, &tasks).await.expect(200);
        let findings = server.get(&format!("{path}/check")).await.expect(200);
        let with_code = |code: &str| -> Vec<&Value> {
            findings.as_array().unwrap().iter().filter(|finding| finding["code"] == code).collect()
        };
        assert_eq!(with_code("graph-unknown-function").len(), n_unknown, "{findings}");
        assert_eq!(with_code("graph-bare-word")[0]["severity"], "warning");
        let last = with_code("graph-unknown-function").pop().unwrap();
        assert_eq!(last["message"], "there is no function `isBg`, column 35 of the expression");
        if n_unknown == 1 {
            assert_eq!(last["help"], "did you mean `isBig`?");
        }
    }
}
