//! Instances: nodes of a tenant, made and given back by its members.

use std::time::Duration;

use serde_json::{Value, json};
use stoker_settings::{Modules, Runs, Server};

use crate::agent::agents_for;
use crate::beginnings::{node, release, release_body, release_of};
use crate::module_apply::{modules_of, names};
use crate::modules::{Tenants, id};
use crate::support::TestServer;

async fn site() -> (Tenants, crate::agent::Deeds) {
    let runs = Runs { local_agents: true, ..Runs::default() };
    let server = TestServer::with(Server { runs, modules: Modules::default(), ..Server::default() }).await;
    let deeds = agents_for(&server.app);
    server.app.begin_runs();
    (Tenants::on(server).await, deeds)
}

async fn create(tenants: &Tenants, instance: Value) -> crate::support::Reply {
    let body = json!({"instance": instance});
    tenants.server.as_bearer(&tenants.ada, "POST", "/v1.0/instances", &body).await
}

#[tokio::test(flavor = "multi_thread")]
async fn member_creates_and_deletes_an_instance() {
    let (tenants, deeds) = site().await;
    let server = &tenants.server;
    create(&tenants, json!({"name": "db"})).await.fault(404);
    release(server).await;
    let none = create(&tenants, json!({"name": "db"})).await.fault(422);
    assert!(none.starts_with("there is no free node"), "{none}");
    let (one, two) = (node(server, 1).await, node(server, 2).await);
    let own = server.module_of(&tenants.ada, "own", json!({})).await;
    let auto = server.module("auto", json!({"auto_apply": 1, "all_tenants": 1, "priority_apply": 1})).await;
    let body = json!({"name": "db-1", "flavorRef": "1", "volume": {"size": 1}, "modules": [{"id": own["id"]}, {"id": auto["id"]}]});
    let made = create(&tenants, body).await.expect(200)["instance"].clone();
    assert_eq!((&made["name"], &made["status"]), (&json!("db-1"), &json!("ACTIVE")));
    assert_eq!(made["datastore"], json!({"type": "R", "version": "mitaka-9.0"}));
    assert_eq!((&made["id"], &made["tenant_id"]), (&json!(one.to_string()), &json!("2")));
    let by = async |token: &str, method: &str, path: &str| {
        server.as_bearer(token, method, path, &Value::Null).await
    };
    let mut listed = Vec::new();
    for _ in 0..400 {
        listed = names(&by(&tenants.ada, "GET", &modules_of(one)).await.expect(200));
        if listed.len() == 2 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    assert_eq!(listed, ["own", "auto"]);
    assert_eq!(deeds.take(), [format!("apply auto,own@{one}")], "one list, each once");
    let second = create(&tenants, json!({"name": "db-2", "datastore": {"type": "R"}})).await.expect(200);
    assert_eq!(second["instance"]["id"], two.to_string());
    let clusters = server.get("clusters/").await.expect(200);
    assert_eq!(clusters.as_array().unwrap().len(), 1, "one environment of the tenant for the release");
    let instances = by(&tenants.ada, "GET", "/v1.0/instances?include_clustered=False").await.expect(200);
    assert_eq!(instances["instances"].as_array().unwrap().len(), 2);
    assert_eq!(by(&tenants.bob, "GET", "/v1.0/instances").await.expect(200)["instances"], json!([]));
    assert_eq!(server.get("/v1.0/instances").await.expect(200)["instances"], json!([]), "the project's own");
    let shown = format!("/v1.0/instances/{one}");
    by(&tenants.bob, "GET", &shown).await.fault(404);
    by(&tenants.bob, "DELETE", &shown).await.fault(404);
    by(&tenants.bob, "GET", &modules_of(one)).await.fault(404);
    assert_eq!(server.get(&shown).await.expect(200)["instance"]["name"], "db-1", "admins reach any");
    let masked =
        by(&tenants.ada, "GET", &format!("{}?include_contents=1", modules_of(one))).await.expect(200);
    let contents = masked["modules"][1]["contents"].as_str().unwrap();
    assert_eq!(contents, "TXVzdCBiZSBhZG1pbiB0byByZXRyaWV2ZSBjb250ZW50cyBmb3IgbW9kdWxlIGF1dG8=");
    assert_eq!(by(&tenants.ada, "DELETE", &shown).await.status, 202);
    by(&tenants.ada, "GET", &shown).await.fault(404);
    let path = format!("/v1.0/modules/{}", id(&own));
    assert_eq!(by(&tenants.ada, "GET", &path).await.expect(200)["module"]["instance_count"], 0);
    by(&tenants.ada, "DELETE", &path).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn hidden_modules_are_listed_only_for_admins() {
    let (tenants, _) = site().await;
    let server = &tenants.server;
    release(server).await;
    let one = node(server, 1).await;
    create(&tenants, json!({"name": "db"})).await.expect(200);
    let hidden = server.module("hidden", json!({"visible": 0, "all_tenants": 1})).await;
    let own = server.module_of(&tenants.ada, "own", json!({})).await;
    let ids = json!({"modules": [{"id": hidden["id"]}, {"id": own["id"]}]});
    let applied = server.as_bearer(&tenants.ada, "POST", &modules_of(one), &ids).await.expect(200);
    assert_eq!(names(&applied), ["hidden", "own"], "whoever knows its id may apply it");
    let listed = server.as_bearer(&tenants.ada, "GET", &modules_of(one), &Value::Null).await.expect(200);
    assert_eq!(names(&listed), ["own"]);
    assert_eq!(names(&server.get(&modules_of(one)).await.expect(200)), ["own", "hidden"]);
    let remove = format!("{}/{}", modules_of(one), id(&hidden));
    server.as_bearer(&tenants.ada, "DELETE", &remove, &Value::Null).await.fault(404);
    let theirs = server.module_of(&tenants.bob, "theirs", json!({})).await;
    let ids = json!({"modules": [{"id": theirs["id"]}]});
    let applied = server.as_bearer(&tenants.ada, "POST", &modules_of(one), &ids).await.expect(200);
    assert_eq!(applied, json!({"modules": []}), "what is others' does not exist");
    server.as_bearer(&tenants.bob, "POST", &modules_of(one), &ids).await.fault(404);
}

#[tokio::test(flavor = "multi_thread")]
async fn instance_is_deployed_before_its_modules_are_applied() {
    let (tenants, deeds) = site().await;
    let server = &tenants.server;
    let old = release(server).await;
    let new = stoker_model::NewRelease { version: "mitaka-9.1".to_owned(), ..release_body() };
    let new = release_of(server, new).await;
    let tasks = json!([crate::runs::task("install", json!("*"), "true", json!({}))]);
    for release in [old, new] {
        let path = format!("releases/{release}/deployment_tasks/?graph_type=default");
        server.put(&path, &tasks).await.expect(200);
    }
    let one = node(server, 1).await;
    let own = server.module_of(&tenants.ada, "own", json!({})).await;
    let made = create(&tenants, json!({"name": "db", "modules": [{"id": own["id"]}]})).await.expect(200);
    assert_eq!(made["instance"]["status"], "BUILD");
    assert_eq!(made["instance"]["datastore"]["version"], "mitaka-9.1", "the newest release");
    for _ in 0..400 {
        let listed = server.get(&modules_of(one)).await.expect(200);
        if listed["modules"].as_array().unwrap().len() == 1 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    assert_eq!(deeds.take(), [format!("install@{one}"), format!("apply own@{one}")]);
    let shown = server.as_bearer(&tenants.ada, "GET", &format!("/v1.0/instances/{one}"), &Value::Null).await;
    assert_eq!(shown.expect(200)["instance"]["status"], "ACTIVE");
}

#[tokio::test]
async fn invalid_instance_is_refused_with_reason() {
    let tenants = Tenants::on(TestServer::new().await).await;
    let server = &tenants.server;
    release(server).await;
    for (instance, status, told) in [
        (json!({}), 400, "Validation error: instance 'name' is a required property"),
        (json!({"name": ""}), 400, "Validation error: instance['name'] '' is too short"),
        (json!({"name": "a", "datastore": {"type": "x"}}), 404, "Datastore 'x' cannot be found."),
        (json!({"name": "a", "datastore": {"version": "8"}}), 400, "Datastore 'None' has no version '8'."),
        (json!({"name": "a", "modules": {}}), 400, "Validation error: modules"),
    ] {
        let message = create(&tenants, instance).await.fault(status);
        assert!(message.starts_with(told), "{message}");
    }
    let reply = server.post("/v1.0/instances", &json!({})).await.fault(400);
    assert_eq!(reply, "Validation error: 'instance' is a required property");
    for query in ["limit=0", "limit=x", "marker=x"] {
        server.get(&format!("/v1.0/instances?{query}")).await.fault(400);
    }
}

#[tokio::test]
async fn instance_list_is_paginated() {
    let server = TestServer::new().await;
    let cluster = crate::beginnings::cluster(&server).await;
    let mut assigned = Vec::new();
    for number in 1..=23 {
        assigned.push(json!({"id": node(&server, number).await, "roles": ["compute"]}));
    }
    server.post(&format!("clusters/{cluster}/assignment"), &json!(assigned)).await.expect(200);
    let mut seen = Vec::new();
    let mut path = "/v1.0/instances".to_owned();
    loop {
        let page = server.get(&path).await.expect(200);
        seen.extend(page["instances"].as_array().unwrap().iter().map(|row| row["id"].clone()));
        match page["links"][0]["href"].as_str() {
            Some(href) => path = format!("/v1.0/instances?{}", href.split_once('?').unwrap().1),
            None => break,
        }
    }
    assert_eq!(seen.len(), 23);
    seen.dedup();
    assert_eq!(seen.len(), 23);
    let two = server.get("/v1.0/instances?limit=2").await.expect(200);
    assert_eq!(two["instances"].as_array().unwrap().len(), 2);
}
