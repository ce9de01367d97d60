//! Module API instances: nodes that members of a tenant allocate and release.

use std::time::Duration;

use serde_json::{Value, json};
use stoker_settings::{Modules, Runs, Server};

use crate::agent::install_agents;
use crate::beginnings::{create_node, create_release, create_release_from, release_body};
use crate::module_apply::{modules_path, names};
use crate::modules::{Tenants, id};
use crate::support::TestServer;

async fn create_site() -> (Tenants, crate::agent::AttemptLog) {
    let runs = Runs { local_agents: true, ..Runs::default() };
    let server =
        TestServer::with_settings(Server { runs, modules: Modules::default(), ..Server::default() }).await;
    let attempts = install_agents(&server.app);
    server.app.start_background();
    (Tenants::create(server).await, attempts)
}

async fn create_instance(tenants: &Tenants, instance: Value) -> crate::support::Reply {
    let body = json!({"instance": instance});
    tenants.server.send_as(&tenants.ada, "POST", "/v1.0/instances", &body).await
}

#[tokio::test(flavor = "multi_thread")]
async fn member_creates_and_deletes_an_instance() {
    let (tenants, attempts) = create_site().await;
    let server = &tenants.server;
    create_instance(&tenants, json!({"name": "db"})).await.expect_fault(404);
    create_release(server).await;
    let error = create_instance(&tenants, json!({"name": "db"})).await.expect_fault(422);
    assert!(error.starts_with("no free node"), "{error}");
    let (first_node, second_node) = (create_node(server, 1).await, create_node(server, 2).await);
    let own_module = server.create_module_as(&tenants.ada, "own", json!({})).await;
    let auto_module =
        server.create_module("auto", json!({"auto_apply": 1, "all_tenants": 1, "priority_apply": 1})).await;
    let body = json!({"name": "db-1", "flavorRef": "1", "volume": {"size": 1}, "modules": [{"id": own_module["id"]}, {"id": auto_module["id"]}]});
    let instance = create_instance(&tenants, body).await.expect(200)["instance"].clone();
    assert_eq!((&instance["name"], &instance["status"]), (&json!("db-1"), &json!("ACTIVE")));
    assert_eq!(instance["datastore"], json!({"type": "R", "version": "mitaka-9.0"}));
    assert_eq!((&instance["id"], &instance["tenant_id"]), (&json!(first_node.to_string()), &json!("2")));
    let send_as =
        async |token: &str, method: &str, path: &str| server.send_as(token, method, path, &Value::Null).await;
    let mut listed = Vec::new();
    for _ in 0..400 {
        listed = names(&send_as(&tenants.ada, "GET", &modules_path(first_node)).await.expect(200));
        if listed.len() == 2 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    assert_eq!(listed, ["own", "auto"]);
    assert_eq!(
        attempts.take(),
        [format!("apply auto,own@{first_node}")],
        "all modules in one task, without duplicates"
    );
    let second =
        create_instance(&tenants, json!({"name": "db-2", "datastore": {"type": "R"}})).await.expect(200);
    assert_eq!(second["instance"]["id"], second_node.to_string());
    let clusters = server.get("clusters/").await.expect(200);
    assert_eq!(clusters.as_array().unwrap().len(), 1, "the tenant has one environment per release");
    let instances = send_as(&tenants.ada, "GET", "/v1.0/instances?include_clustered=False").await.expect(200);
    assert_eq!(instances["instances"].as_array().unwrap().len(), 2);
    assert_eq!(send_as(&tenants.bob, "GET", "/v1.0/instances").await.expect(200)["instances"], json!([]));
    assert_eq!(
        server.get("/v1.0/instances").await.expect(200)["instances"],
        json!([]),
        "only instances of the caller's tenant"
    );
    let instance_path = format!("/v1.0/instances/{first_node}");
    send_as(&tenants.bob, "GET", &instance_path).await.expect_fault(404);
    send_as(&tenants.bob, "DELETE", &instance_path).await.expect_fault(404);
    send_as(&tenants.bob, "GET", &modules_path(first_node)).await.expect_fault(404);
    assert_eq!(
        server.get(&instance_path).await.expect(200)["instance"]["name"],
        "db-1",
        "admins read any instance"
    );
    let masked = send_as(&tenants.ada, "GET", &format!("{}?include_contents=1", modules_path(first_node)))
        .await
        .expect(200);
    let contents = masked["modules"][1]["contents"].as_str().unwrap();
    assert_eq!(contents, "TXVzdCBiZSBhZG1pbiB0byByZXRyaWV2ZSBjb250ZW50cyBmb3IgbW9kdWxlIGF1dG8=");
    assert_eq!(send_as(&tenants.ada, "DELETE", &instance_path).await.status, 202);
    send_as(&tenants.ada, "GET", &instance_path).await.expect_fault(404);
    let path = format!("/v1.0/modules/{}", id(&own_module));
    assert_eq!(send_as(&tenants.ada, "GET", &path).await.expect(200)["module"]["instance_count"], 0);
    send_as(&tenants.ada, "DELETE", &path).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn hidden_modules_are_listed_only_for_admins() {
    let (tenants, _) = create_site().await;
    let server = &tenants.server;
    create_release(server).await;
    let node = create_node(server, 1).await;
    create_instance(&tenants, json!({"name": "db"})).await.expect(200);
    let hidden = server.create_module("hidden", json!({"visible": 0, "all_tenants": 1})).await;
    let own_module = server.create_module_as(&tenants.ada, "own", json!({})).await;
    let ids = json!({"modules": [{"id": hidden["id"]}, {"id": own_module["id"]}]});
    let applied = server.send_as(&tenants.ada, "POST", &modules_path(node), &ids).await.expect(200);
    assert_eq!(names(&applied), ["hidden", "own"], "a hidden module can be applied by ID");
    let listed = server.send_as(&tenants.ada, "GET", &modules_path(node), &Value::Null).await.expect(200);
    assert_eq!(names(&listed), ["own"]);
    assert_eq!(names(&server.get(&modules_path(node)).await.expect(200)), ["own", "hidden"]);
    let remove = format!("{}/{}", modules_path(node), id(&hidden));
    server.send_as(&tenants.ada, "DELETE", &remove, &Value::Null).await.expect_fault(404);
    let other_module = server.create_module_as(&tenants.bob, "theirs", json!({})).await;
    let ids = json!({"modules": [{"id": other_module["id"]}]});
    let applied = server.send_as(&tenants.ada, "POST", &modules_path(node), &ids).await.expect(200);
    assert_eq!(applied, json!({"modules": []}), "modules of other tenants are ignored");
    server.send_as(&tenants.bob, "POST", &modules_path(node), &ids).await.expect_fault(404);
}

#[tokio::test(flavor = "multi_thread")]
async fn instance_is_deployed_before_its_modules_are_applied() {
    let (tenants, attempts) = create_site().await;
    let server = &tenants.server;
    let old_release = create_release(server).await;
    let new_release = stoker_model::NewRelease { version: "mitaka-9.1".to_owned(), ..release_body() };
    let new_release = create_release_from(server, new_release).await;
    let tasks = json!([crate::runs::task("install", json!("*"), "true", json!({}))]);
    for release in [old_release, new_release] {
        let path = format!("releases/{release}/deployment_tasks/?graph_type=default");
        server.put(&path, &tasks).await.expect(200);
    }
    let node = create_node(server, 1).await;
    let module = server.create_module_as(&tenants.ada, "own", json!({})).await;
    let created =
        create_instance(&tenants, json!({"name": "db", "modules": [{"id": module["id"]}]})).await.expect(200);
    assert_eq!(created["instance"]["status"], "BUILD");
    assert_eq!(
        created["instance"]["datastore"]["version"], "mitaka-9.1",
        "the newest release is the default"
    );
    for _ in 0..400 {
        let listed = server.get(&modules_path(node)).await.expect(200);
        if listed["modules"].as_array().unwrap().len() == 1 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    assert_eq!(attempts.take(), [format!("install@{node}"), format!("apply own@{node}")]);
    let reply = server.send_as(&tenants.ada, "GET", &format!("/v1.0/instances/{node}"), &Value::Null).await;
    assert_eq!(reply.expect(200)["instance"]["status"], "ACTIVE");
}

#[tokio::test]
async fn invalid_instance_is_refused_with_reason() {
    let tenants = Tenants::create(TestServer::new().await).await;
    let server = &tenants.server;
    create_release(server).await;
    for (instance, status, expected) in [
        (json!({}), 400, "Validation error: instance 'name' is a required property"),
        (json!({"name": ""}), 400, "Validation error: instance['name'] '' is too short"),
        (json!({"name": "a", "datastore": {"type": "x"}}), 404, "Datastore 'x' cannot be found."),
        (json!({"name": "a", "datastore": {"version": "8"}}), 400, "Datastore 'None' has no version '8'."),
        (json!({"name": "a", "modules": {}}), 400, "Validation error: modules"),
    ] {
        let message = create_instance(&tenants, instance).await.expect_fault(status);
        assert!(message.starts_with(expected), "{message}");
    }
    let error = server.post("/v1.0/instances", &json!({})).await.expect_fault(400);
    assert_eq!(error, "Validation error: 'instance' is a required property");
    for query in ["limit=0", "limit=x", "marker=x"] {
        server.get(&format!("/v1.0/instances?{query}")).await.expect_fault(400);
    }
}

#[tokio::test]
async fn instance_list_is_paginated() {
    let server = TestServer::new().await;
    let cluster = crate::beginnings::create_cluster(&server).await;
    let mut assigned = Vec::new();
    for number in 1..=23 {
        assigned.push(json!({"id": create_node(&server, number).await, "roles": ["compute"]}));
    }
    server.post(&format!("clusters/{cluster}/assignment"), &json!(assigned)).await.expect(200);
    let mut ids = Vec::new();
    let mut path = "/v1.0/instances".to_owned();
    loop {
        let page = server.get(&path).await.expect(200);
        ids.extend(page["instances"].as_array().unwrap().iter().map(|row| row["id"].clone()));
        match page["links"][0]["href"].as_str() {
            Some(href) => path = format!("/v1.0/instances?{}", href.split_once('?').unwrap().1),
            None => break,
        }
    }
    assert_eq!(ids.len(), 23);
    ids.dedup();
    assert_eq!(ids.len(), 23);
    let two = server.get("/v1.0/instances?limit=2").await.expect(200);
    assert_eq!(two["instances"].as_array().unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn size_options_are_repeated_and_others_are_refused() {
    let (tenants, _) = create_site().await;
    let server = &tenants.server;
    create_release(server).await;
    let (one, two) = (create_node(server, 1).await, create_node(server, 2).await);
    for (key, value) in [
        ("restorePoint", json!({"backupRef": "x"})),
        ("replica_of", json!("1")),
        ("replica_count", json!(2)),
        ("users", json!([{"name": "a"}])),
        ("databases", json!([{"name": "a"}])),
        ("volume", json!(1)),
        ("volume", json!({"size": 0})),
        ("volume", json!({"size": 1, "typ": "ssd"})),
        ("flavorRef", json!({})),
    ] {
        let mut instance = json!({"name": "db", "flavorRef": "7"});
        instance[key] = value;
        let message = create_instance(&tenants, instance).await.expect_fault(400);
        assert!(message.contains(key), "{message}");
    }
    let volume = json!({"size": 5, "type": "ssd"});
    let instance = json!({"name": "db", "flavorRef": "7", "volume": volume, "replica_count": 1});
    let created = create_instance(&tenants, instance).await.expect(200)["instance"].clone();
    assert_eq!((&created["flavor"]["id"], &created["volume"]), (&json!("7"), &volume));
    let show = async |node: i64| {
        server.get(&format!("/v1.0/instances/{node}")).await.expect(200)["instance"].clone()
    };
    assert_eq!(show(one).await["volume"], volume);
    let plain = create_instance(&tenants, json!({"name": "plain"})).await.expect(200)["instance"].clone();
    assert_eq!((&plain["flavor"]["id"], plain.get("volume")), (&json!("0"), None));
    assert_eq!(show(two).await["status"], "ACTIVE");
    server.delete(&format!("nodes/{two}/agent")).await.expect(204);
    assert_eq!(show(two).await["status"], "SHUTDOWN", "a revoked agent applies no modules");
    // The options belong to the instance, not to the machine.
    let path = format!("/v1.0/instances/{one}");
    assert_eq!(server.send_as(&tenants.ada, "DELETE", &path, &Value::Null).await.status, 202);
    let again = create_instance(&tenants, json!({"name": "again"})).await.expect(200)["instance"].clone();
    assert_eq!((&again["id"], again.get("volume")), (&json!(one.to_string()), None));
}
