//! Isolation of tenants: every operation of the OpenAPI document, called with real IDs of another tenant in path, query
//! and body.
//!
//! A member must not be able to tell a resource of another tenant from one that does not exist: both responses are equal.
//! A viewer and an operator see all tenants by definition. They are checked where their role ends at their own tenant or
//! user: modules, tokens, administration, and for a viewer every change. An admin has no such limit.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use stoker_model::{Permission, Role};
use stoker_settings::{Runs, Server};

use crate::agent::install_agents;
use crate::beginnings::{create_node, create_plugin, create_release, id};
use crate::receiver::Receiver;
use crate::runs::task;
use crate::support::{Reply, TestServer};
use crate::webhooks::wait_for_delivery;

/// In every text of the victim's resources that is not part of a path.
const MARKER: &str = "sealed-letter";
const UNKNOWN_ID: &str = "999999999";
const UNKNOWN_MODULE: &str = "00000000-0000-4000-8000-000000000000";

/// Operations whose responses change with time, or that have no response: not part of the comparison before and after.
const VOLATILE: &[&str] = &[
    "/api/v1/agents/session",
    "/api/v1/audit",
    "/api/v1/docs",
    "/api/v1/health",
    "/api/v1/metrics",
    "/api/v1/openapi.json",
    "/api/v1/runs/{id}/events",
    "/api/v1/servers",
    "/api/v1/tokens",
    "/api/v1/users/me",
    "/keystone/v2.0",
    "/v1.0/auth",
    "/v3",
];

/// Values of path and query parameters: the IDs of one tenant's resources.
#[derive(Clone)]
struct Ids {
    /// By resource, the first segment of a path: `clusters`, `nodes`, …
    by_resource: BTreeMap<&'static str, String>,
}

impl Ids {
    fn unknown() -> Self {
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

    fn get(&self, resource: &str) -> Option<&str> {
        self.by_resource.get(resource).map(String::as_str)
    }

    /// The value of a query parameter that takes an ID of a resource of a tenant.
    fn query(&self, name: &str) -> Option<&str> {
        match name {
            "cluster_id" | "cluster" | "clusters_ids" => self.get("clusters"),
            "ids" | "nodes" | "node" => self.get("nodes"),
            "user_id" => self.get("users"),
            _ => None,
        }
    }
}

/// Two tenants with the same resources, and IDs that both share.
struct Tenants {
    server: TestServer,
    victim: Ids,
    /// Token of the victim's member.
    victim_token: String,
    other: Ids,
    /// Releases, plugins and sequences belong to no tenant.
    shared: BTreeMap<&'static str, String>,
}

impl Tenants {
    async fn new() -> Self {
        let runs = Runs { local_agents: true, ..Runs::default() };
        let server = TestServer::with_settings(Server { runs, ..Server::default() }).await;
        _ = install_agents(&server.app);
        server.app.begin_runs();
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
    fn fill(&self, path: &str, tenant: &str, first: &Ids, rest: &Ids) -> String {
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

    /// The responses of all operations without effect, as the victim sees them, or an admin where the victim may not.
    async fn observe(&self) -> BTreeMap<String, String> {
        let mut responses = BTreeMap::new();
        for Operation { method, path, permission, .. } in operations() {
            if method != "GET" || VOLATILE.contains(&path.as_str()) {
                continue;
            }
            let path = self.fill(&path, "-", &self.victim, &self.victim);
            let reply = if Role::Member.allows(permission) {
                self.server.send_as(&self.victim_token, "GET", &path, &Value::Null).await
            } else {
                self.server.get(&path).await
            };
            responses.insert(path, format!("{} {}", reply.status, reply.body));
        }
        responses
    }
}

/// Creates a tenant with a member, and one resource of every kind that belongs to it.
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

struct Operation {
    method: String,
    path: String,
    permission: Permission,
    queries: Vec<String>,
    has_body: bool,
}

fn operations() -> Vec<Operation> {
    let document = serde_json::to_value(stoker_server::openapi_document()).unwrap();
    let mut operations = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            let queries = parameters.filter(|parameter| parameter["in"] == "query");
            operations.push(Operation {
                method: method.to_uppercase(),
                path: path.clone(),
                permission: Permission::parse(operation["x-stoker-permission"].as_str().unwrap()).unwrap(),
                queries: queries.map(|query| query["name"].as_str().unwrap().to_owned()).collect(),
                has_body: operation.get("requestBody").is_some(),
            });
        }
    }
    operations
}

impl Operation {
    /// Whether the resource of the path belongs to a tenant or a user.
    fn is_owned(&self) -> bool {
        let shared = ["releases", "plugins", "sequences", "datastores"];
        let is_shared = |collection: &&str| shared.contains(collection);
        let segments: Vec<&str> = self.path.split('/').collect();
        let has_id = |idx: usize| segments.get(idx + 1).is_some_and(|next| next.starts_with('{'));
        let collections =
            segments.iter().enumerate().filter(|(idx, _)| has_id(*idx)).map(|(_, segment)| segment);
        // The segment before `{tenant}` is the version.
        let mut collections = collections.filter(|collection| **collection != "v1.0").peekable();
        collections.peek().is_some() && !collections.any(is_shared)
    }

    /// A valid body that names resources of `ids` where the operation takes IDs. Operations that no caller of these tests
    /// may reach need none.
    fn body(&self, ids: &Ids) -> Value {
        let module = || json!([{"id": ids.get("modules")}]);
        match (self.method.as_str(), self.path.as_str()) {
            _ if !self.has_body => Value::Null,
            _ if matches!(self.permission, Permission::Operate | Permission::Administer) => json!({}),
            (_, "/api/v1/tokens") => json!({"label": "mine"}),
            (_, "/api/v1/users/me/password") => json!({"old_password": "wrong", "password": "new"}),
            (_, "/api/v1/releases/{id}/components/check") => json!({"components": []}),
            (_, "/api/v1/releases/{id}/wizard/evaluate") => json!({"answers": {}}),
            (_, "/v1.0/{tenant}/instances") => json!({"instance": {"name": "x", "modules": module()}}),
            (_, "/v1.0/{tenant}/instances/{id}/modules") => json!({"modules": module()}),
            ("POST", "/v1.0/{tenant}/modules") => {
                json!({"module": {"name": "x", "module_type": "ping", "contents": "", "tenant_id": ids.get("tenants")}})
            }
            (_, "/v1.0/{tenant}/modules/{id}") => json!({"module": {"description": "changed"}}),
            (_, "/v1.0/{tenant}/modules/{id}/instances") => json!({"reapply": {"force": 1}}),
            (method, path) => panic!("{method} {path}: no body; add one to this test"),
        }
    }
}

/// A request in two versions: with IDs of the victim, and with IDs that do not exist.
struct Pair {
    real: (String, Value),
    unknown: (String, Value),
    /// Whether the path selects a resource of the victim.
    selects_victim: bool,
}

/// Requests of an operation: the victim's IDs in the path; in the query; and, beside an ID of the caller, in the rest of the
/// path and in the body.
fn requests(tenants: &Tenants, operation: &Operation) -> Vec<Pair> {
    let Tenants { victim, other, .. } = tenants;
    let unknown = Ids::unknown();
    let path = |first: &Ids, rest: &Ids| tenants.fill(&operation.path, "-", first, rest);
    let mut pairs = vec![
        Pair {
            real: (path(victim, victim), operation.body(victim)),
            unknown: (path(&unknown, &unknown), operation.body(&unknown)),
            selects_victim: operation.is_owned(),
        },
        Pair {
            real: (path(other, victim), operation.body(victim)),
            unknown: (path(other, &unknown), operation.body(&unknown)),
            selects_victim: false,
        },
    ];
    for name in &operation.queries {
        if let (Some(real), Some(unknown_id)) = (victim.query(name), unknown.query(name)) {
            let path = path(other, other);
            pairs.push(Pair {
                real: (format!("{path}?{name}={real}"), operation.body(other)),
                unknown: (format!("{path}?{name}={unknown_id}"), operation.body(other)),
                selects_victim: false,
            });
        }
    }
    // Deleting or changing resources of the caller would change the requests that follow.
    let is_change = operation.method != "GET";
    pairs.retain(|pair| {
        pair.selects_victim || !is_change || pair.real != pair.unknown || !operation.is_owned()
    });
    pairs
}

/// A response; in an error, the IDs that `request` has and `other` has not are masked, because a message may repeat them.
fn masked(reply: &Reply, request: &(String, Value), other: &(String, Value)) -> String {
    let text = format!("{} {}", reply.status, reply.body);
    if reply.status < 400 {
        return text;
    }
    let (request, other) = (format!("{} {}", request.0, request.1), format!("{} {}", other.0, other.1));
    let other: Vec<&str> = words(&other).collect();
    let sent: Vec<&str> = words(&request).filter(|word| !other.contains(word)).collect();
    let mut rest = text.as_str();
    let mut masked = String::new();
    for word in words(&text) {
        let (before, after) = rest.split_once(word).unwrap();
        masked.push_str(before);
        masked.push_str(if sent.contains(&word) { "ID" } else { word });
        rest = after;
    }
    masked + rest
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-')
        .filter(|word| !word.is_empty())
}

/// Whether the tests of a role include an operation, by its permission.
fn is_limited(role: Role, operation: &Operation) -> bool {
    match operation.permission {
        Permission::Public => false,
        Permission::Own | Permission::Modules | Permission::Administer => role != Role::Admin,
        Permission::Operate => !role.allows(Permission::Operate),
        Permission::Read => !role.sees_all_tenants(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn other_tenants_see_and_change_nothing() {
    let tenants = Tenants::new().await;
    let server = &tenants.server;
    let mut callers = Vec::new();
    for role in [Role::Member, Role::Viewer, Role::Operator] {
        callers.push((role, server.create_user(&format!("outside-{role}"), "blue", role.as_str()).await));
    }
    let before = tenants.observe().await;
    assert!(before.values().filter(|response| response.contains(MARKER)).count() > 30, "{before:#?}");
    let mut problems = Vec::new();
    for (role, token) in callers {
        for operation in operations().iter().filter(|operation| is_limited(role, operation)) {
            for Pair { real, unknown: unknown_request, selects_victim } in requests(&tenants, operation) {
                let reply = server.send_as(&token, &operation.method, &real.0, &real.1).await;
                let name = format!("{role}: {} {} {}", operation.method, real.0, real.1);
                if selects_victim && !matches!(reply.status, 403 | 404) {
                    problems.push(format!("{name}: {} {}", reply.status, reply.body));
                }
                if reply.body.to_string().contains(MARKER) {
                    problems.push(format!("{name}: shows {}", reply.body));
                }
                if real != unknown_request {
                    let (path, body) = &unknown_request;
                    let expected = server.send_as(&token, &operation.method, path, body).await;
                    let expected = masked(&expected, &unknown_request, &real);
                    let real = masked(&reply, &real, &unknown_request);
                    if real != expected {
                        problems.push(format!("{name}: {real}, but {expected} for an unknown ID"));
                    }
                }
            }
            if operation.path.contains("{tenant}") {
                let path = tenants.fill(
                    &operation.path,
                    tenants.victim.get("tenants").unwrap(),
                    &tenants.victim,
                    &tenants.victim,
                );
                let body = operation.body(&tenants.victim);
                let reply = server.send_as(&token, &operation.method, &path, &body).await;
                if !matches!(reply.status, 403 | 404) {
                    problems.push(format!(
                        "{role}: {} {path}: {} {}",
                        operation.method, reply.status, reply.body
                    ));
                }
            }
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
    let after = tenants.observe().await;
    for (path, response) in &before {
        assert_eq!(after.get(path), Some(response), "{path} has changed");
    }
}
