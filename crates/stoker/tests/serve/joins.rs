//! Agents that join, and those that are rejected.

use serde_json::json;

use crate::site::{Site, join_token, until};
use crate::transcript::Transcript;

const UNKNOWN: &str = "the join token is unknown, expired or used up";

#[test]
fn rejected_join_reports_the_reason() {
    let site = Site::new(&json!([]));
    let mut transcript = Transcript::default();
    transcript.replace(site.url(), "SERVER");
    let mut rejected_join = |title: &str, token: Option<&str>| {
        let output = site.run_rejected_agent(title, token);
        assert_eq!(output.status.code(), Some(5), "{output:?}");
        transcript.record(&["agent", "#", title], "", &output);
    };
    rejected_join("wrong", Some("stk_wrong"));
    rejected_join("none", None);

    let join = |token: &str, node: &str| {
        site.client.call("POST", "/api/v1/agents/join", Some(&json!({"token": token, "node": node}))).unwrap()
    };
    let single_use = join_token(&site.client, &json!({"uses": 1, "may_replace": true}));
    assert_eq!(join(&single_use, &site.nodes[2].to_string()).0, 201);
    rejected_join("used-up", Some(&single_use));

    let short_lived = join_token(&site.client, &json!({"expires_in": 1}));
    // Before it expires, the token is valid but the node does not exist.
    let (_, response) = until("the token expires", || {
        Some(join(&short_lived, "nobody")).filter(|(status, _)| *status == 401)
    });
    assert_eq!(response["message"], UNKNOWN);
    rejected_join("expired", Some(&short_lived));
    insta::assert_snapshot!(transcript.take());
}

#[test]
fn rejoining_agent_replaces_the_old_one() {
    let mut site = Site::new(&json!([]));
    site.await_agent(0);
    let file = site.file("who").display().to_string();
    let cmd = format!("echo \"$STOKER_ATTEMPT\" >>{file}");
    site.upload(&json!([{"id": "who", "type": "shell", "version": "2.1.0", "roles": ["controller"],
        "parameters": {"cmd": cmd}}]));
    site.start_agent_in(0, "reinstalled");
    // The credential of the replaced agent is revoked, and its log says what to do.
    until("the replaced agent is rejected", || {
        site.read("agent-0.log").contains("join again with a new token").then_some(())
    });
    site.await_agent(0);
    assert_eq!(site.deploy(&json!({}))["status"], "ready");
    assert!(site.read("who").contains("reinstalled"), "{}", site.read("who"));
    let agents = site.get("/api/v1/agents").unwrap();
    let uid = site.nodes[0].to_string();
    let n_agents = agents.as_array().unwrap().iter().filter(|agent| agent["uid"] == uid.as_str()).count();
    assert_eq!(n_agents, 1, "{agents}");
}

#[test]
fn many_agents_join_concurrently() {
    let site = Site::new(&json!([]));
    let token = join_token(&site.client, &json!({"uses": 40}));
    std::thread::scope(|scope| {
        for number in 0..40 {
            let (client, token) = (site.client.clone(), &token);
            scope.spawn(move || {
                let facts = json!({"mac": format!("52:54:00:00:01:{number:02x}")});
                let body = json!({"token": token, "facts": facts});
                client.expect(201, "POST", "/api/v1/agents/join", Some(&body));
            });
        }
    });
    assert_eq!(site.get("/api/v1/nodes/").unwrap().as_array().unwrap().len(), 43);
}

#[test]
fn join_token_uses_are_limited_under_concurrency() {
    let site = Site::new(&json!([]));
    let token = join_token(&site.client, &json!({"uses": 5}));
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let joins: Vec<_> = (0..20)
            .map(|number| {
                let (client, token) = (site.client.clone(), &token);
                scope.spawn(move || {
                    let facts = json!({"mac": format!("52:54:00:00:02:{number:02x}")});
                    let body = json!({"token": token, "facts": facts});
                    client.call("POST", "/api/v1/agents/join", Some(&body)).unwrap().0
                })
            })
            .collect();
        joins.into_iter().map(|join| join.join().unwrap()).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 5, "{statuses:?}");
    assert!(statuses.iter().all(|status| [201, 401, 429].contains(status)), "{statuses:?}");
    // A rejected join creates no node.
    assert_eq!(site.get("/api/v1/nodes/").unwrap().as_array().unwrap().len(), 3 + 5);
    let tokens = site.get("/api/v1/join_tokens").unwrap();
    assert!(tokens.as_array().unwrap().iter().any(|token| token["uses_left"] == 0), "{tokens}");
}

#[test]
fn deleted_agent_stays_disconnected() {
    let site = Site::new(&json!([]));
    site.await_agent(1);
    let agents = site.get("/api/v1/agents").unwrap();
    let uid = site.nodes[1].to_string();
    let agent = agents.as_array().unwrap().iter().find(|agent| agent["uid"] == uid.as_str()).unwrap();
    site.client.expect(204, "DELETE", &format!("/api/v1/agents/{}", agent["id"]), None);
    until("the agent is rejected", || {
        site.read("agent-1.log").contains("join again with a new token").then_some(())
    });
    let agents = site.get("/api/v1/agents").unwrap();
    assert!(!agents.as_array().unwrap().iter().any(|agent| agent["uid"] == uid.as_str()), "{agents}");
}
