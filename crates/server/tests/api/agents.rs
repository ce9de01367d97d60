//! Agents come in, once each.

use serde_json::{Value, json};

use crate::beginnings::{id, node};
use crate::support::{Reply, TestServer, request};

async fn token(server: &TestServer, body: Value) -> String {
    let made = server.post("join_tokens", &body).await.expect(201);
    made["token"].as_str().unwrap().to_owned()
}

/// As somebody who has not logged in.
async fn join(server: &TestServer, body: Value) -> Reply {
    let body = axum::body::Body::from(body.to_string());
    server.send(request("POST", "agents/join").body(body).unwrap()).await
}

#[tokio::test]
async fn join_token_is_limited_by_its_use_count() {
    let server = TestServer::new().await;
    let node = node(&server, 1).await;
    let once = token(&server, json!({"uses": 1})).await;
    let wrong = join(&server, json!({"token": "stk_wrong", "node": node.to_string()})).await.refused(401);
    assert!(wrong.contains("join token"), "{wrong}");
    // A join that is refused costs nothing.
    let nowhere = join(&server, json!({"token": once, "node": "no such node"})).await.refused(400);
    assert!(nowhere.contains("there is no node `no such node`"), "{nowhere}");
    let joined = join(&server, json!({"token": once, "node": node.to_string()})).await.expect(201);
    assert_eq!(joined["node_uid"], node.to_string());
    join(&server, json!({"token": once, "node": node.to_string()})).await.refused(401);
    let agents = server.get("agents").await.expect(200);
    assert_eq!((&agents[0]["uid"], &agents[0]["is_connected"]), (&json!(node.to_string()), &json!(false)));
    assert!(!agents.to_string().contains("stk_"), "no secret is shown again");
}

/// They are written down together; what one may not do is no matter of the others.
#[tokio::test]
async fn concurrent_joins_get_independent_results() {
    let server = TestServer::new().await;
    let any = token(&server, json!({})).await;
    let few = token(&server, json!({"uses": 3})).await;
    let body = |number: usize| {
        let token = match number % 4 {
            0 => "stk_wrong",
            1 => &few,
            _ => &any,
        };
        json!({"token": token, "facts": {"mac": format!("52:54:00:00:01:{number:02x}")}})
    };
    let replies = futures_util::future::join_all((0..200).map(|number| join(&server, body(number)))).await;
    let mut uids = std::collections::BTreeSet::new();
    let (mut n_few, mut n_refused) = (0, 0);
    for (number, reply) in replies.into_iter().enumerate() {
        if reply.status != 201 {
            // Guessing is slowed down, also for whoever comes after a guess from the same address.
            assert!(reply.status == 401 || reply.status == 429, "{number}: {}", reply.status);
            n_refused += 1;
            continue;
        }
        assert_ne!(number % 4, 0, "nobody knows its token");
        n_few += usize::from(number % 4 == 1);
        assert!(uids.insert(reply.expect(201)["node_uid"].to_string()), "a node for two");
    }
    assert!(n_few <= 3, "the token was good for three, not for {n_few}");
    assert_eq!(uids.len() + n_refused, 200);
    let agents = server.get("agents?limit=500").await.expect(200);
    assert_eq!(agents.as_array().unwrap().len(), uids.len());
    let nodes = server.get("nodes?limit=500").await.expect(200);
    assert_eq!(nodes.as_array().unwrap().len(), uids.len(), "nothing is left of those who were refused");
    let entries = server.get("audit?action=agent.join&limit=500").await.expect(200);
    assert_eq!(entries.as_array().unwrap().len(), uids.len());
}

#[tokio::test]
async fn replacing_an_agent_requires_may_replace() {
    let server = TestServer::new().await;
    let node = node(&server, 1).await;
    let plain = token(&server, json!({})).await;
    let strong = token(&server, json!({"may_replace": true})).await;
    join(&server, json!({"token": plain, "node": node.to_string()})).await.expect(201);
    for place in [node.to_string(), "master".to_owned()] {
        let refused = join(&server, json!({"token": plain, "node": place})).await.refused(403);
        assert!(refused.contains("may_replace"), "{refused}");
        join(&server, json!({"token": strong, "node": place})).await.expect(201);
    }
    let agent = id(&server.get("agents").await.expect(200)[0]);
    server.delete(&format!("agents/{agent}")).await.expect(204);
    join(&server, json!({"token": plain, "node": node.to_string()})).await.expect(201);
}

/// An agent calls its node by the name of the machine, which whoever discovered the node may not have known.
#[tokio::test]
async fn joining_agent_is_matched_by_mac_address() {
    let server = TestServer::new().await;
    let node = node(&server, 1).await;
    let token = token(&server, json!({})).await;
    let facts = json!({"mac": "52:54:00:00:00:01"});
    let joined =
        join(&server, json!({"token": token, "node": "some-host", "facts": facts})).await.expect(201);
    assert_eq!(joined["node_uid"], node.to_string());
}

#[tokio::test]
async fn ambiguous_node_name_is_refused() {
    let server = TestServer::new().await;
    let token = token(&server, json!({})).await;
    for number in 1..=2 {
        let body =
            json!({"mac": format!("52:54:00:00:00:{number:02x}"), "status": "discover", "name": "twin"});
        server.post("nodes/", &body).await.expect(201);
    }
    let refused = join(&server, json!({"token": token, "node": "twin"})).await.refused(409);
    assert!(refused.contains("several nodes are named `twin`"), "{refused}");
    join(&server, json!({"token": token, "node": "node-2"})).await.expect(201);
}

#[tokio::test]
async fn unknown_machine_becomes_a_new_node() {
    let server = TestServer::new().await;
    let token = token(&server, json!({})).await;
    let facts = json!({"mac": "52-54-00-AA-BB-CC", "hostname": "seven", "ip": "10.0.0.7"});
    let joined = join(&server, json!({"token": token, "node": "seven", "facts": facts})).await.expect(201);
    let node = server.get(&format!("nodes/{}", joined["node_uid"].as_str().unwrap())).await.expect(200);
    assert_eq!((&node["mac"], &node["name"]), (&json!("52:54:00:aa:bb:cc"), &json!("seven")));
}

#[tokio::test]
async fn nats_user_requires_agent_credential_and_configured_nats() {
    let server = TestServer::new().await;
    let node = node(&server, 1).await;
    let ask = async |bearer: Option<&str>| {
        let mut asking = request("POST", "agents/nats_user");
        if let Some(bearer) = bearer {
            asking = asking.header("authorization", format!("Bearer {bearer}"));
        }
        server.send(asking.body(axum::body::Body::empty()).unwrap()).await
    };
    ask(None).await.refused(401);
    ask(Some("stk_wrong")).await.refused(401);
    let token = token(&server, json!({})).await;
    let joined = join(&server, json!({"token": token, "node": node.to_string()})).await.expect(201);
    let refused = ask(joined["credential"].as_str()).await.refused(404);
    assert!(refused.contains("`--nats-keys`"), "{refused}");
}
