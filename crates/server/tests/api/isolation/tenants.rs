//! Two tenants with one resource of every type.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use stoker_settings::{Runs, Server};

use crate::agent::install_agents;
use crate::beginnings::{create_node, create_plugin, create_release, id};
use crate::receiver::Receiver;
use crate::runs::task;
use crate::support::TestServer;
use crate::webhooks::wait_for_delivery;

/// Text that occurs in every resource of the victim, except in paths.
pub(super) const MARKER: &str = "sealed-letter";
const UNKNOWN_ID: &str = "999999999";
const UNKNOWN_MODULE: &str = "00000000-0000-4000-8000-000000000000";

/// Values of path and query parameters: the IDs of the resources of one tenant.
#[derive(Clone)]
pub(super) struct Ids {
    /// IDs by resource, the first segment of a path: `clusters`, `nodes`, …
    by_resource: BTreeMap<&'static str, String>,
}

impl Ids {
    pub(super) fn unknown() -> Self {
        let resources = [
            "clusters",
            "nodes",
            "graphs",
            "plans",
            "runs",
            "transactions",
            "tasks",
            "tokens",
            "webhooks",
            "deliveries",
            "drift_checks",
            "agents",
            "join_tokens",
            "users",
            "tenants",
            "links",
            "notifications",
        ];
        let mut by_resource: BTreeMap<&'static str, String> =
            resources.into_iter().map(|resource| (resource, UNKNOWN_ID.to_owned())).collect();
        by_resource.insert("modules", UNKNOWN_MODULE.to_owned());
        by_resource.insert("instances", UNKNOWN_ID.to_owned());
        Self { by_resource }
    }

    pub(super) fn get(&self, resource: &str) -> Option<&str> {
        self.by_resource.get(resource).map(String::as_str)
    }

    /// Returns the value of a query parameter that takes an ID of a resource of a tenant.
    pub(super) fn query(&self, name: &str) -> Option<&str> {
        match name {
            "cluster_id" | "cluster" | "clusters_ids" => self.get("clusters"),
            "ids" | "nodes" | "node" => self.get("nodes"),
            "user_id" => self.get("users"),
            _ => None,
        }
    }
}

/// Two tenants with the same resources, and IDs that both share.
pub(super) struct Tenants {
    pub(super) server: TestServer,
    pub(super) victim: Ids,
    /// Token of the victim's member.
    pub(super) victim_token: String,
    pub(super) other: Ids,
    /// IDs of resources that belong to no tenant: releases, plugins and sequences.
    shared: BTreeMap<&'static str, String>,
}

impl Tenants {
    pub(super) async fn new() -> Self {
        let runs = Runs { local_agents: true, ..Runs::default() };
        let server = TestServer::with_settings(Server { runs, ..Server::default() }).await;
        _ = install_agents(&server.app);
        server.app.start_background();
        let release = create_release(&server).await;
        let plugin = create_plugin(&server, "hotnet", "1.0.0", json!({})).await.id.0;
        let sequence = json!({"release": release, "name": "all", "graphs": [{"type": "default"}]});
        let sequence = id(&server.post("sequences", &sequence).await.expect(201));
        let link = json!({"title": "manual", "url": "http://manual.example/"});
        let link = id(&server.post(&format!("plugins/{plugin}/links"), &link).await.expect(201));
        let shared = BTreeMap::from([
            ("releases", release.to_string()),
            ("plugins", plugin.to_string()),
            ("sequences", sequence.to_string()),
            ("plugin links", link.to_string()),
        ]);
        let (victim, victim_token) = create_resources(&server, "red", release, 1, MARKER).await;
        let (other, _) = create_resources(&server, "blue", release, 2, "plain").await;
        Self { server, victim, victim_token, other, shared }
    }

    /// Fills a path: `{tenant}` with `tenant`, the first ID with one of `first`, all others with those of `rest`.
    pub(super) fn fill(&self, path: &str, tenant: &str, first: &Ids, rest: &Ids) -> String {
        let segments: Vec<&str> = path.split('/').collect();
        let mut is_first = true;
        let filled = segments.iter().enumerate().map(|(idx, segment)| {
            let Some(parameter) = segment.strip_prefix('{').and_then(|name| name.strip_suffix('}')) else {
                return (*segment).to_owned();
            };
            let collection = segments[idx - 1];
            let value = match (parameter, collection) {
                ("tenant", _) => return tenant.to_owned(),
                ("type", _) => return "default".to_owned(),
                ("name", _) => return "edge".to_owned(),
                ("task", _) => return "deploy".to_owned(),
                ("datastore", _) => return "R".to_owned(),
                ("version", _) => return "mitaka-9.0".to_owned(),
                ("other", _) => rest.get("plans"),
                ("link", "links") => self.shared.get("plugin links").map(String::as_str),
                ("link", _) => rest.get("links"),
                (_, collection) => {
                    let ids = if is_first { first } else { rest };
                    ids.get(collection).or_else(|| self.shared.get(collection).map(String::as_str))
                }
            };
            is_first = false;
            value
                .unwrap_or_else(|| {
                    panic!("{path}: no value for `{parameter}`; add the resource to this test")
                })
                .to_owned()
        });
        filled.collect::<Vec<_>>().join("/")
    }
}

/// Creates a tenant with a member, and one resource of every type that belongs to it.
async fn create_resources(
    server: &TestServer,
    tenant: &str,
    release: i64,
    number: u8,
    mark: &str,
) -> (Ids, String) {
    let member = server.create_user(&format!("member-of-{tenant}"), tenant, "member").await;
    let user = server.send_as(&member, "GET", "users/me", &Value::Null).await.expect(200);
    let cluster = json!({"name": format!("{mark} cluster"), "release_id": release, "tenant": tenant});
    let cluster = id(&server.post("clusters", &cluster).await.expect(201));
    let node = create_node(server, number).await;
    server.put(&format!("nodes/{node}"), &json!({"name": format!("{mark} node")})).await.expect(200);
    let in_cluster = |path: &str| format!("clusters/{cluster}/{path}");
    let roles = json!([{"id": node, "roles": ["compute"]}]);
    server.post(&in_cluster("assignment"), &roles).await.expect(200);
    let settings = json!({"editable": {"common": {"puppet": {"value": mark}}}});
    server.patch(&in_cluster("attributes"), &settings).await.expect(200);
    let tag = json!({"name": "edge", "meta": {"has_primary": false, "label": mark}});
    server.post(&in_cluster("tags"), &tag).await.expect(201);
    let role = json!({"name": "edge", "meta": {"name": mark, "description": mark, "tags": ["edge"]}});
    server.post(&in_cluster("roles"), &role).await.expect(201);
    let link = json!({"title": mark, "url": format!("http://{mark}.example/")});
    let link = id(&server.post(&in_cluster("plugin_links"), &link).await.expect(201));
    let tasks = json!([task("deploy", json!("*"), &format!("echo {mark}"), json!({}))]);
    server.put(&in_cluster("deployment_tasks"), &tasks).await.expect(200);
    let graph = id(&server.get(&in_cluster("deployment_graphs/default")).await.expect(200));
    let plan = id(&server.post(&in_cluster("plans"), &json!({})).await.expect(201));
    let run = json!({"cluster": cluster, "graphs": [{"type": "default"}]});
    let run = id(&server.post("graphs/execute", &run).await.expect(202));
    wait_for_end(server, run).await;
    let drift_check = id(&server.post(&in_cluster("drift_checks"), &json!({})).await.expect(202));
    let check_path = in_cluster(&format!("drift_checks/{drift_check}"));
    while server.get(&check_path).await.expect(200)["status"] == "running" {
        tokio::time::sleep(std::time::Duration::from_millis(25)).await;
    }
    let module =
        server.create_module_as(&member, &format!("{mark} module"), json!({"description": mark})).await;
    let apply = json!({"modules": [{"id": module["id"]}]});
    server.send_as(&member, "POST", &format!("/v1.0/instances/{node}/modules"), &apply).await.expect(200);
    let token = json!({"label": mark});
    let token = id(&server.send_as(&member, "POST", "tokens", &token).await.expect(201));
    let receiver = Receiver::start(&[]).await;
    let webhook = json!({"name": format!("{mark} hook"), "url": receiver.url, "cluster": cluster});
    let webhook = id(&server.post("webhooks", &webhook).await.expect(201));
    server.post(&format!("webhooks/{webhook}/test"), &Value::Null).await.expect(202);
    let delivery = wait_for_delivery(server, webhook).await;
    let join_token = server.post("join_tokens", &json!({"label": mark})).await.expect(201);
    let join = json!({"token": join_token["token"], "node": node.to_string(), "facts": {}, "version": mark});
    server.post("agents/join", &join).await.expect(201);
    let agents = server.get("agents").await.expect(200);
    let agent = agents.as_array().unwrap().iter().find(|agent| agent["node_id"] == node).unwrap();
    let by_resource = BTreeMap::from([
        ("agents", agent["id"].to_string()),
        ("clusters", cluster.to_string()),
        ("deliveries", delivery["id"].to_string()),
        ("drift_checks", drift_check.to_string()),
        ("graphs", graph.to_string()),
        ("instances", node.to_string()),
        ("join_tokens", join_token["id"].to_string()),
        ("links", link.to_string()),
        ("modules", module["id"].as_str().unwrap().to_owned()),
        ("nodes", node.to_string()),
        ("notifications", "1".to_owned()),
        ("plans", plan.to_string()),
        ("runs", run.to_string()),
        ("tasks", run.to_string()),
        ("tenants", user["tenant_id"].to_string()),
        ("tokens", token.to_string()),
        ("transactions", run.to_string()),
        ("users", user["id"].to_string()),
        ("webhooks", webhook.to_string()),
    ]);
    (Ids { by_resource }, member)
}

async fn wait_for_end(server: &TestServer, run: i64) {
    for _ in 0..600 {
        let run = server.get(&format!("transactions/{run}")).await.expect(200);
        if run["status"] == "ready" {
            return;
        }
        assert_ne!(run["status"], "error", "{run}");
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("run {run} did not end");
}
