//! Joining of agents with join tokens.

use serde_json::{Value, json};

use crate::beginnings::{create_node, id};
use crate::support::{Reply, TestServer, request};

async fn create_join_token(server: &TestServer, body: Value) -> String {
    let response = server.post("join_tokens", &body).await.expect(201);
    response["token"].as_str().unwrap().to_owned()
}

/// Sends an unauthenticated join request.
async fn join(server: &TestServer, body: Value) -> Reply {
    let body = axum::body::Body::from(body.to_string());
    server.send(request("POST", "agents/join").body(body).unwrap()).await
}

#[tokio::test]
async fn join_token_is_limited_by_its_use_count() {
    let server = TestServer::new().await;
    let node = create_node(&server, 1).await;
    let token = create_join_token(&server, json!({"uses": 1})).await;
    let error =
        join(&server, json!({"token": "stk_wrong", "node": node.to_string()})).await.expect_error(401);
    assert!(error.contains("join token"), "{error}");
    // A refused join does not consume a use of the token.
    let error = join(&server, json!({"token": token, "node": "no such node"})).await.expect_error(400);
    assert!(error.contains("there is no node `no such node`"), "{error}");
    let joined = join(&server, json!({"token": token, "node": node.to_string()})).await.expect(201);
    assert_eq!(joined["node_uid"], node.to_string());
    join(&server, json!({"token": token, "node": node.to_string()})).await.expect_error(401);
    let agents = server.get("agents").await.expect(200);
    assert_eq!((&agents[0]["uid"], &agents[0]["is_connected"]), (&json!(node.to_string()), &json!(false)));
    assert!(!agents.to_string().contains("stk_"), "secrets are returned only once");
}

/// Concurrent joins share one group commit; a refused join does not affect the others.
#[tokio::test]
async fn concurrent_joins_get_independent_results() {
    let server = TestServer::new().await;
    let unlimited_token = create_join_token(&server, json!({})).await;
    let limited_token = create_join_token(&server, json!({"uses": 3})).await;
    let body = |number: usize| {
        let token = match number % 4 {
            0 => "stk_wrong",
            1 => &limited_token,
            _ => &unlimited_token,
        };
        json!({"token": token, "facts": {"mac": format!("52:54:00:00:01:{number:02x}")}})
    };
    let replies = futures_util::future::join_all((0..200).map(|number| join(&server, body(number)))).await;
    let mut uids = std::collections::BTreeSet::new();
    let (mut n_few, mut n_refused) = (0, 0);
    for (number, reply) in replies.into_iter().enumerate() {
        if reply.status != 201 {
            // Failed attempts are rate limited by address, so valid joins from the same address may get 429.
            assert!(reply.status == 401 || reply.status == 429, "{number}: {}", reply.status);
            n_refused += 1;
            continue;
        }
        assert_ne!(number % 4, 0, "its token is unknown");
        n_few += usize::from(number % 4 == 1);
        assert!(uids.insert(reply.expect(201)["node_uid"].to_string()), "two agents joined as one node");
    }
    assert!(n_few <= 3, "the token allows 3 joins, not {n_few}");
    assert_eq!(uids.len() + n_refused, 200);
    let agents = server.get("agents?limit=500").await.expect(200);
    assert_eq!(agents.as_array().unwrap().len(), uids.len());
    let nodes = server.get("nodes?limit=500").await.expect(200);
    assert_eq!(nodes.as_array().unwrap().len(), uids.len(), "refused joins create no nodes");
    let entries = server.get("audit?action=agent.join&limit=500").await.expect(200);
    assert_eq!(entries.as_array().unwrap().len(), uids.len());
}

#[tokio::test]
async fn replacing_an_agent_requires_may_replace() {
    let server = TestServer::new().await;
    let node = create_node(&server, 1).await;
    let plain = create_join_token(&server, json!({})).await;
    let strong = create_join_token(&server, json!({"may_replace": true})).await;
    join(&server, json!({"token": plain, "node": node.to_string()})).await.expect(201);
    for node_name in [node.to_string(), "master".to_owned()] {
        let error = join(&server, json!({"token": plain, "node": node_name})).await.expect_error(403);
        assert!(error.contains("may_replace"), "{error}");
        join(&server, json!({"token": strong, "node": node_name})).await.expect(201);
    }
    let agent = id(&server.get("agents").await.expect(200)[0]);
    server.delete(&format!("agents/{agent}")).await.expect(204);
    join(&server, json!({"token": plain, "node": node.to_string()})).await.expect(201);
}

/// The agent names its node by hostname, which a newly discovered node may not have.
#[tokio::test]
async fn joining_agent_is_matched_by_mac_address() {
    let server = TestServer::new().await;
    let node = create_node(&server, 1).await;
    let token = create_join_token(&server, json!({})).await;
    let facts = json!({"mac": "52:54:00:00:00:01"});
    let joined =
        join(&server, json!({"token": token, "node": "some-host", "facts": facts})).await.expect(201);
    assert_eq!(joined["node_uid"], node.to_string());
}

#[tokio::test]
async fn ambiguous_node_name_is_refused() {
    let server = TestServer::new().await;
    let token = create_join_token(&server, json!({})).await;
    for number in 1..=2 {
        let body =
            json!({"mac": format!("52:54:00:00:00:{number:02x}"), "status": "discover", "name": "twin"});
        server.post("nodes/", &body).await.expect(201);
    }
    let error = join(&server, json!({"token": token, "node": "twin"})).await.expect_error(409);
    assert!(error.contains("several nodes are named `twin`"), "{error}");
    join(&server, json!({"token": token, "node": "node-2"})).await.expect(201);
}

#[tokio::test]
async fn unknown_machine_becomes_a_new_node() {
    let server = TestServer::new().await;
    let token = create_join_token(&server, json!({})).await;
    let facts = json!({"mac": "52-54-00-AA-BB-CC", "hostname": "seven", "ip": "10.0.0.7"});
    let joined = join(&server, json!({"token": token, "node": "seven", "facts": facts})).await.expect(201);
    let node = server.get(&format!("nodes/{}", joined["node_uid"].as_str().unwrap())).await.expect(200);
    assert_eq!((&node["mac"], &node["name"]), (&json!("52:54:00:aa:bb:cc"), &json!("seven")));
}

#[tokio::test]
async fn nats_user_requires_agent_credential_and_configured_nats() {
    let server = TestServer::new().await;
    let node = create_node(&server, 1).await;
    let request_nats_user = async |bearer: Option<&str>| {
        let mut request = request("POST", "agents/nats_user");
        if let Some(bearer) = bearer {
            request = request.header("authorization", format!("Bearer {bearer}"));
        }
        server.send(request.body(axum::body::Body::empty()).unwrap()).await
    };
    request_nats_user(None).await.expect_error(401);
    request_nats_user(Some("stk_wrong")).await.expect_error(401);
    let token = create_join_token(&server, json!({})).await;
    let joined = join(&server, json!({"token": token, "node": node.to_string()})).await.expect(201);
    let error = request_nats_user(joined["credential"].as_str()).await.expect_error(404);
    assert!(error.contains("`--nats-keys`"), "{error}");
}
