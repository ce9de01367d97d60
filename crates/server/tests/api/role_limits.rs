//! Limits on the number of nodes with a role: maxima when nodes are assigned, minima when a plan is made.

use serde_json::{Value, json};

use crate::beginnings::{create_cluster_of, create_node, create_release_from, id, map, release_body};
use crate::runs::task;
use crate::support::TestServer;

const PLAN: &str = "clusters/1/plans";

/// A server with a cluster of three nodes and a graph, whose release has these roles.
async fn site(roles: Value) -> TestServer {
    let server = TestServer::new().await;
    let mut release = release_body();
    release.roles_metadata = map(roles);
    let release = create_release_from(&server, release).await;
    create_cluster_of(&server, release, "demo").await;
    for number in 1..4 {
        create_node(&server, number).await;
    }
    let tasks = json!([task("base", json!(["/.*/"]), "true", json!({}))]);
    for graph_type in ["default", "other"] {
        let path = format!("clusters/1/deployment_tasks/?graph_type={graph_type}");
        server.put(&path, &tasks).await.expect(200);
    }
    server
}

fn nodes(ids: &[i64], role: &str) -> Value {
    ids.iter().map(|id| json!({"id": id, "roles": [role]})).collect()
}

async fn pending_roles(server: &TestServer, node: i64) -> Value {
    server.get(&format!("nodes/{node}")).await.expect(200)["pending_roles"].clone()
}

#[tokio::test]
async fn maxima_are_enforced_when_nodes_are_assigned() {
    let server = site(json!({
        "db": {"name": "DB", "limits": {"max": 2}},
        "mongo": {"name": "Mongo", "limits": {"overrides": [
            {"condition": "settings:common.debug.value == false", "max": 1, "message": "At most 1 MongoDB node without debug."},
        ]}},
    }))
    .await;
    let message = server.post("clusters/1/assignment", &nodes(&[1, 2, 3], "db")).await.expect_error(400);
    assert_eq!(message, "role `db` allows at most 2 nodes: 3 nodes have it (1, 2, 3)");
    assert_eq!(pending_roles(&server, 1).await, json!([]), "all or nothing");
    let answer = server.post("clusters/1/assignment", &nodes(&[1, 2], "db")).await.expect(200);
    assert_eq!(answer, json!(null));
    let message = server.post("clusters/1/assignment", &nodes(&[3], "db")).await.expect_error(400);
    assert!(message.contains("role `db`"), "{message}");
    let message =
        server.put("nodes/3", &json!({"cluster_id": 1, "pending_roles": ["db"]})).await.expect_error(400);
    assert!(message.contains("role `db`"), "{message}");
    // One node takes over the role of another one in the same request.
    let swap = json!([{"id": 3, "cluster_id": 1, "pending_roles": ["db"]}, {"id": 2, "pending_roles": []}]);
    server.put("nodes", &swap).await.expect(200);
    // A node that is marked for removal does not count, until it stays.
    server.put("nodes/1", &json!({"pending_deletion": true})).await.expect(200);
    server.post("clusters/1/assignment", &nodes(&[2], "db")).await.expect(200);
    let exceeded = "role `db` allows at most 2 nodes: 3 nodes have it (1, 2, 3)";
    assert_eq!(server.put("nodes/1", &json!({"pending_deletion": false})).await.expect_error(400), exceeded);
    assert_eq!(server.post("clusters/1/assignment", &nodes(&[1], "db")).await.expect_error(400), exceeded);
    server.put("nodes/2", &json!({"pending_roles": []})).await.expect(200);
    server.put("nodes/1", &json!({"pending_deletion": false})).await.expect(200);
    // An override by a condition on the settings, with its own message.
    let message = server.post("clusters/1/assignment", &nodes(&[1, 2], "mongo")).await.expect_error(400);
    assert_eq!(
        message,
        "At most 1 MongoDB node without debug (role `mongo`, maximum 1): 2 nodes have it (1, 2)"
    );
    let debug = json!({"editable": {"common": {"debug": {"value": true}}}});
    server.put("clusters/1/attributes", &debug).await.expect(200);
    server.post("clusters/1/assignment", &nodes(&[1, 2], "mongo")).await.expect(200);
    // A maximum that settings lower afterwards does not block other roles.
    let quiet = json!({"editable": {"common": {"debug": {"value": false}}}});
    server.put("clusters/1/attributes", &quiet).await.expect(200);
    server.post("clusters/1/assignment", &json!([{"id": 1, "roles": ["mongo", "db"]}])).await.expect(200);
}

#[tokio::test]
async fn minima_are_enforced_when_a_plan_is_made() {
    let server = site(json!({
        "controller": {"name": "Controller", "limits": {"min": 1, "recommended": 3, "overrides": [
            {"condition": "settings:common.debug.value == true", "min": 2, "message": "Debugging requires at least 2 controllers."},
        ]}},
        "compute": {"name": "Compute"},
        "mongo": {"name": "Mongo", "limits": {"min": 1}, "restrictions": ["settings:common.debug.value == false"]},
    }))
    .await;
    server.post("clusters/1/assignment", &nodes(&[1, 2], "compute")).await.expect(200);
    let minimum = "role `controller` needs at least 1 node: no node has it";
    let error = server.post(PLAN, &json!({})).await.expect(400);
    assert_eq!(error["message"], minimum, "a role that a restriction forbids is not required");
    assert!(error["errors"][0]["help"].as_str().unwrap().contains("--ignore-limits"), "{error}");
    for (path, body) in [
        ("clusters/1/deploy/", json!({})),
        ("clusters/1/deploy/?dry_run=1", json!({})),
        ("clusters/1/changes/", json!({})),
        ("clusters/1/deploy_tasks/", json!(["base"])),
    ] {
        let message = server.put(path, &body).await.expect_error(400);
        assert!(message.starts_with(minimum), "{path}: {message}");
    }
    let execute = json!({"cluster": 1, "graphs": [{"type": "default"}], "dry_run": true});
    server.post("graphs/execute/", &execute).await.expect_error(400);
    assert_eq!(server.get("transactions/").await.expect(200), json!([]));
    assert_eq!(server.get(PLAN).await.expect(200), json!([]));
    // Other graph types deploy no roles, and a diagram runs nothing.
    server.post(PLAN, &json!({"graph_type": "other"})).await.expect(201);
    server.get("clusters/1/serialized_tasks").await.expect(200);
    // The caller takes the responsibility.
    let plan = server.post(PLAN, &json!({"ignore_limits": true})).await.expect(201);
    assert_eq!(plan["request"]["ignore_limits"], true);
    let plan = server.get(&format!("plans/{}", id(&plan))).await.expect(200);
    assert_eq!(
        warnings(&plan),
        [
            ("role-minimum", minimum),
            ("role-recommended", "at least 3 nodes with role `controller` are recommended: no node has it"),
        ]
    );
    let changes = server.get(&format!("plans/{}/changes", id(&plan))).await.expect(200);
    assert_eq!(changes["is_current"], true, "{changes}");
    server
        .post("graphs/execute/", &{
            let mut body = execute.clone();
            body["ignore_limits"] = json!(true);
            body
        })
        .await
        .expect(202);
    // With a controller, only the recommendation remains.
    // An update of a node warns as an assignment does, and takes its own response back.
    let body = json!({"id": 3, "cluster_id": 1, "pending_roles": ["controller"]});
    for list in [false, true] {
        let updated = if list {
            server.put("nodes", &json!([body])).await.expect(200)[0].clone()
        } else {
            server.put("nodes/3", &body).await.expect(200)
        };
        assert_eq!(updated["warnings"][0]["code"], "role-recommended", "{updated}");
        assert_eq!(server.put("nodes/3", &updated).await.expect(200)["warnings"], Value::Null);
        server.put("nodes/3", &json!({"pending_roles": []})).await.expect(200);
    }
    let answer = server.post("clusters/1/assignment", &nodes(&[3], "controller")).await.expect(200);
    let recommended = "at least 3 nodes with role `controller` are recommended: node 3 has it";
    assert_eq!(answer["warnings"][0]["message"], recommended);
    let plan = server.post(PLAN, &json!({})).await.expect(201);
    let plan = server.get(&format!("plans/{}", id(&plan))).await.expect(200);
    assert_eq!(warnings(&plan), [("role-recommended", recommended)]);
    // The override of the minimum has its own message.
    let debug = json!({"editable": {"common": {"debug": {"value": true}}}});
    server.put("clusters/1/attributes", &debug).await.expect(200);
    let message = server.post(PLAN, &json!({})).await.expect_error(400);
    let own = "Debugging requires at least 2 controllers (role `controller`, minimum 2): node 3 has it";
    assert!(message.contains(own) && message.contains("role `mongo` needs at least 1 node"), "{message}");
}

/// Code and message of each warning about roles.
fn warnings(plan: &Value) -> Vec<(&str, &str)> {
    let warnings = plan["warnings"].as_array().unwrap().iter();
    let pairs =
        warnings.map(|warning| (warning["code"].as_str().unwrap(), warning["message"].as_str().unwrap()));
    pairs.filter(|(code, _)| code.starts_with("role-")).collect()
}

#[tokio::test]
async fn conflicts_and_dependencies_are_enforced() {
    let server = site(json!({
        "controller": {"name": "Controller", "conflicts": ["compute"], "public_ip_required": true},
        "compute": {"name": "Compute"},
        "mongo": {"name": "Mongo", "depends": [
            {"condition": {"settings:common.debug.value": true}, "warning": "Debug should be enabled"},
        ]},
        "late": {"name": "Late", "depends": [{"condition": "cluster:status != 'new'"}]},
    }))
    .await;
    let both = json!([{"id": 1, "roles": ["compute", "controller"]}]);
    let message = server.post("clusters/1/assignment", &both).await.expect_error(400);
    assert_eq!(message, "Role 'controller' in conflict with role 'compute'.");
    server
        .put("nodes/1", &json!({"cluster_id": 1, "roles": ["compute"], "status": "ready"}))
        .await
        .expect(200);
    let message = server.post("clusters/1/assignment", &nodes(&[1], "controller")).await.expect_error(400);
    assert_eq!(message, "Role 'controller' in conflict with role 'compute', which is deployed on the node.");
    let message = server.post("clusters/1/assignment", &nodes(&[2], "mongo")).await.expect_error(400);
    assert_eq!(message, "Role 'mongo' cannot be assigned: Debug should be enabled");
    let message = server.post("clusters/1/assignment", &nodes(&[2], "late")).await.expect_error(400);
    assert!(message.contains("cluster:status != 'new'"), "{message}");
    let debug = json!({"editable": {"common": {"debug": {"value": true}}}});
    server.put("clusters/1/attributes", &debug).await.expect(200);
    server.post("clusters/1/assignment", &nodes(&[2], "mongo")).await.expect(200);
    let answer = server.post("clusters/1/assignment", &nodes(&[3], "controller")).await.expect(200);
    assert_eq!(answer["warnings"][0]["code"], "role-public-ip");
    assert!(answer["warnings"][0]["message"].as_str().unwrap().contains("node 3"), "{answer}");
}

#[tokio::test]
async fn limits_with_unknown_keys_or_values_are_refused() {
    let server = TestServer::new().await;
    for (meta, part) in [
        (json!({"limits": {"maximum": 1}}), "unknown key `maximum`"),
        (json!({"limits": {"min": -1}}), "a number of nodes"),
        (json!({"limits": {"min": 1.5}}), "a number of nodes"),
        (json!({"limits": {"overrides": [{"max": 1}]}}), "`condition` is missing"),
        (json!({"limits": {"overrides": [{"condition": "a:b", "mx": 1}]}}), "unknown key `mx`"),
        (json!({"depends": [{"warning": "x"}]}), "`condition` is missing"),
        (json!({"depends": {"condition": "a:b"}}), "must be a list"),
    ] {
        let release = json!({"name": "R", "version": "1-1", "operating_system": "Ubuntu", "roles_metadata": {"db": meta}});
        let message = server.post("releases", &release).await.expect_error(400);
        assert!(message.contains(part), "{meta}: {message}");
    }
}
