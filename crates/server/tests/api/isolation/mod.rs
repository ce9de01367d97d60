//! Isolation of tenants: every operation of the OpenAPI document, called with real IDs of another tenant in path, query
//! and body.
//!
//! A member must not be able to distinguish a resource of another tenant from a resource that does not exist:
//! both responses are equal. A viewer and an operator see all tenants by definition. They are checked where
//! their role ends at their tenant or user: modules, tokens, administration, and for a viewer every change.
//! An admin has no such limit.

mod tenants;

use std::collections::BTreeMap;

use serde_json::{Value, json};
use stoker_model::{Permission, Role};

use crate::support::Reply;
use tenants::{Ids, MARKER, Tenants};

/// Operations whose responses change with time, or that have no response. They are excluded from the
/// comparison before and after.
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
    /// Reports whether the resource of the path belongs to a tenant or a user.
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

    /// Returns a valid body that names resources of `ids` where the operation takes IDs. Operations that no
    /// caller of these tests may reach need none.
    fn body(&self, ids: &Ids) -> Value {
        let module = || json!([{"id": ids.get("modules")}]);
        match (self.method.as_str(), self.path.as_str()) {
            _ if !self.has_body => Value::Null,
            _ if matches!(
                self.permission,
                Permission::Plan | Permission::Operate | Permission::Administer
            ) =>
            {
                json!({})
            }
            (_, "/api/v1/tokens") => json!({"label": "mine"}),
            (_, "/api/v1/users/me/password") => json!({"old_password": "wrong", "password": "new"}),
            (_, "/api/v1/clusters/{id}/release/preview") => json!({"release_id": 1}),
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

/// Returns the requests of an operation, with the IDs of the victim in the path, in the query, and, next to
/// an ID of the caller, in the rest of the path and in the body.
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

/// Returns a response with masked IDs: in an error, the IDs that only `request` contains are masked, because
/// a message may repeat them.
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

/// Reports whether the tests of a role include an operation, by its permission.
fn is_limited(role: Role, operation: &Operation) -> bool {
    match operation.permission {
        Permission::Public => false,
        Permission::Own | Permission::Modules | Permission::Administer => role != Role::Admin,
        Permission::Plan | Permission::Operate => !role.allows(operation.permission),
        Permission::Read => !role.sees_all_tenants(),
    }
}

/// Returns the responses of all operations without effect, as the victim sees them, or an admin where the
/// victim has no access.
async fn observe(tenants: &Tenants) -> BTreeMap<String, String> {
    let mut responses = BTreeMap::new();
    for Operation { method, path, permission, .. } in operations() {
        if method != "GET" || VOLATILE.contains(&path.as_str()) {
            continue;
        }
        let path = tenants.fill(&path, "-", &tenants.victim, &tenants.victim);
        let reply = if Role::Member.allows(permission) {
            tenants.server.send_as(&tenants.victim_token, "GET", &path, &Value::Null).await
        } else {
            tenants.server.get(&path).await
        };
        responses.insert(path, format!("{} {}", reply.status, reply.body));
    }
    responses
}

#[tokio::test(flavor = "multi_thread")]
async fn other_tenants_see_and_change_nothing() {
    let tenants = Tenants::new().await;
    let server = &tenants.server;
    let mut callers = Vec::new();
    for role in [Role::Member, Role::Viewer, Role::Planner, Role::Operator] {
        callers.push((role, server.create_user(&format!("outside-{role}"), "blue", role.as_str()).await));
    }
    let before = observe(&tenants).await;
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
    let after = observe(&tenants).await;
    for (path, response) in &before {
        assert_eq!(after.get(path), Some(response), "{path} has changed");
    }
}
