//! Agents that come in, and those that may not.

use serde_json::json;

use crate::site::{Site, join_token, until};

const UNKNOWN: &str = "the join token is not known, has expired or is used up";

#[test]
fn who_may_not_come_in_is_told_why() {
    let site = Site::new(&json!([]));
    let refused = |state: &str, token: Option<&str>| {
        let output = site.refused_agent(state, token);
        assert_eq!(output.status.code(), Some(5), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let wrong = refused("wrong", Some("stk_wrong"));
    assert!(wrong.contains("does not let this agent join") && wrong.contains(UNKNOWN), "{wrong}");
    let none = refused("none", None);
    assert!(none.contains("give it a token with `--join-token`"), "{none}");

    let join = |token: &str, node: &str| {
        site.client.call("POST", "/api/v1/agents/join", Some(&json!({"token": token, "node": node}))).unwrap()
    };
    let once = join_token(&site.client, &json!({"uses": 1, "may_replace": true}));
    assert_eq!(join(&once, &site.nodes[2].to_string()).0, 201);
    let used_up = refused("used-up", Some(&once));
    assert!(used_up.contains(UNKNOWN), "{used_up}");

    let brief = join_token(&site.client, &json!({"expires_in": 1}));
    // Good until then, but there is no such node.
    let (_, answer) =
        until("the token expires", || Some(join(&brief, "nobody")).filter(|(status, _)| *status == 401));
    assert_eq!(answer["message"], UNKNOWN);
    let expired = refused("expired", Some(&brief));
    assert!(expired.contains(UNKNOWN), "{expired}");
}

#[test]
fn an_agent_that_joins_again_takes_the_place_of_the_former() {
    let mut site = Site::new(&json!([]));
    site.await_agent(0);
    let file = site.file("who").display().to_string();
    let cmd = format!("echo \"$STOKER_ATTEMPT\" >>{file}");
    site.upload(&json!([{"id": "who", "type": "shell", "version": "2.1.0", "roles": ["controller"],
        "parameters": {"cmd": cmd}}]));
    site.start_agent_in(0, "reinstalled");
    // The credential of the former is no longer good, and it says what to do.
    until("the former is told", || {
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
fn a_whole_rack_may_come_in_at_once() {
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
fn a_token_is_never_used_more_often_than_it_says() {
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
    // A join that is refused leaves no node behind.
    assert_eq!(site.get("/api/v1/nodes/").unwrap().as_array().unwrap().len(), 3 + 5);
    let tokens = site.get("/api/v1/join_tokens").unwrap();
    assert!(tokens.as_array().unwrap().iter().any(|token| token["uses_left"] == 0), "{tokens}");
}

#[test]
fn an_agent_that_is_sent_away_stays_away() {
    let site = Site::new(&json!([]));
    site.await_agent(1);
    let agents = site.get("/api/v1/agents").unwrap();
    let uid = site.nodes[1].to_string();
    let agent = agents.as_array().unwrap().iter().find(|agent| agent["uid"] == uid.as_str()).unwrap();
    site.client.expect(204, "DELETE", &format!("/api/v1/agents/{}", agent["id"]), None);
    until("it is told", || site.read("agent-1.log").contains("join again with a new token").then_some(()));
    let agents = site.get("/api/v1/agents").unwrap();
    assert!(!agents.as_array().unwrap().iter().any(|agent| agent["uid"] == uid.as_str()), "{agents}");
}
