//! Machines of nodes: an agent that joins on another machine invalidates what was applied to the previous one.

use std::time::Duration;

use serde_json::{Value, json};

use crate::beginnings::id;
use crate::runs::{Site, task};

/// A task that runs only when its setting changes.
fn install() -> Value {
    json!([task(
        "install",
        json!("*"),
        "true",
        json!({"condition": {"yaql_exp": "changed($.settings.common.debug.value)"}})
    )])
}

impl Site {
    /// Joins an agent for the first node with a token that allows replacing it.
    async fn join_first(&self, machine: &Value) -> Value {
        let token = self.server.post("join_tokens", &json!({"may_replace": true})).await.expect(201);
        let mut body = json!({"token": token["token"], "node": self.nodes[0].to_string()});
        for (key, value) in machine.as_object().unwrap() {
            body[key] = value.clone();
        }
        self.server.post("agents/join", &body).await.expect(201)
    }

    async fn first_node(&self) -> Value {
        self.server.get(&format!("nodes/{}", self.nodes[0])).await.expect(200)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replaced_machine_is_planned_as_a_new_node() {
    let site = Site::new(&install()).await;
    assert_eq!(site.deploy(json!({})).await["status"], "ready");
    assert_eq!(site.planned(json!({})).await, Vec::<String>::new());
    site.join_first(&json!({"facts": {"hostname": "empty"}})).await;
    assert_eq!(site.planned(json!({})).await, [format!("install@{}", site.nodes[0])]);
    let node = site.first_node().await;
    assert_eq!((&node["status"], &node["pending_addition"]), (&json!("discover"), &json!(true)), "{node}");
    assert_eq!((&node["roles"], &node["pending_roles"]), (&json!([]), &json!(["controller"])), "{node}");
}

const MACHINE: &str = "5b0f1f7e8c8d4a0fb0d6a1c2e3f40516";
const OTHER_MACHINE: &str = "00aa1f7e8c8d4a0fb0d6a1c2e3f40516";

/// The machine of an agent, as it identifies itself when it joins.
fn machine(journal: &str, node: Option<i64>, machine_id: &str) -> Value {
    let node = node.map(|node| node.to_string());
    json!({"journal": {"id": journal, "node_uid": node}, "facts": {"machine_id": machine_id}})
}

impl Site {
    /// Messages of notifications about replaced machines.
    async fn replacements(&self) -> Vec<String> {
        let listed = self.server.get("notifications?topic=node.replaced").await.expect(200);
        let message = |entry: &Value| entry["message"].as_str().unwrap().to_owned();
        listed.as_array().unwrap().iter().map(message).collect()
    }

    /// Waits until two attempts have started.
    async fn wait_for_second_attempt(&self) {
        for _ in 0..400 {
            if self.attempts.entries().len() == 2 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        panic!("the second task did not start: {:?}", self.attempts.entries());
    }

    async fn n_audit_entries(&self, action: &str) -> usize {
        let entries = self.server.get(&format!("audit?action={action}")).await.expect(200);
        entries.as_array().unwrap().len()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_another_machine_or_journal_counts_as_replaced() {
    let site = Site::new(&install()).await;
    let node = site.nodes[0];
    // The first agent of a node replaces nothing, also after attempts that could not reach one. After a lost response it joins again and does not know its node.
    for _ in 0..2 {
        site.join_first(&machine("first", None, MACHINE)).await;
    }
    // An agent that joins again continues its journal.
    site.join_first(&machine("first", Some(node), MACHINE)).await;
    assert_eq!(site.replacements().await, Vec::<String>::new());
    assert_eq!(site.n_audit_entries("node.replaced").await, 0);
    let replacing = [
        machine("first", Some(node), OTHER_MACHINE),
        machine("second", Some(node), OTHER_MACHINE),
        machine("third", None, OTHER_MACHINE),
        // The journal was used for another node in the meantime.
        machine("third", Some(99), OTHER_MACHINE),
        json!({"facts": {"machine_id": OTHER_MACHINE}}),
    ];
    for (index, machine) in replacing.iter().enumerate() {
        site.join_first(machine).await;
        assert_eq!(site.replacements().await.len(), index + 1, "{machine}");
    }
    assert_eq!(site.n_audit_entries("node.replaced").await, replacing.len());
    let message = site.replacements().await.remove(0);
    assert!(message.contains("was replaced: another machine joined in its place"), "{message}");
    for invalid in
        [json!("x"), json!({}), json!({"id": ""}), json!({"id": "x".repeat(129)}), json!({"id": 5})]
    {
        let body = json!({"token": "x", "node": node.to_string(), "journal": invalid});
        site.server.post("agents/join", &body).await.expect_error(400);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replaced_machine_is_reported_to_webhooks() {
    let site = Site::new(&install()).await;
    let webhook = json!({"name": "chat", "url": "http://127.0.0.1:9/", "topics": ["node.replaced"],
        "cluster": site.cluster});
    let webhook = site.server.post("webhooks", &webhook).await.expect(201);
    site.join_first(&machine("first", None, MACHINE)).await;
    site.join_first(&machine("second", None, MACHINE)).await;
    let deliveries = site.server.get(&format!("webhooks/{}/deliveries", webhook["id"])).await.expect(200);
    assert_eq!(deliveries.as_array().unwrap().len(), 1, "{deliveries}");
    assert_eq!(deliveries[0]["topic"], "node.replaced");
}

/// A replaced node without a cluster is only reported: it has nothing to deploy.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replaced_machine_of_a_free_node_or_the_master_is_reported() {
    let site = Site::new(&install()).await;
    let unassignment = format!("clusters/{}/unassignment", site.cluster);
    site.server.post(&unassignment, &json!([{"id": site.nodes[0]}])).await.expect(200);
    for journal in ["first", "second"] {
        site.join_first(&machine(journal, None, MACHINE)).await;
        let token = site.server.post("join_tokens", &json!({"may_replace": true})).await.expect(201);
        let mut body = machine(journal, None, MACHINE);
        (body["token"], body["node"]) = (token["token"].clone(), json!("master"));
        site.server.post("agents/join", &body).await.expect(201);
    }
    let messages = site.replacements().await;
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert!(messages.iter().any(|message| message.starts_with("the master was replaced")), "{messages:?}");
    let node = site.first_node().await;
    assert_eq!((&node["pending_addition"], &node["cluster"]), (&json!(false), &json!(null)), "{node}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn machine_replaced_during_a_run_is_planned_again() {
    let site = Site::new(&json!([
        task("one", json!(["controller"]), "true", json!({"version": "3.0.0"})),
        task("two", json!(["controller"]), "hang", json!({"version": "3.0.0", "requires": ["one"]})),
    ]))
    .await;
    let run = id(&site.execute(json!({})).await.expect(202));
    site.wait_for_second_attempt().await;
    site.join_first(&machine("new", None, MACHINE)).await;
    site.server.post(&format!("runs/{run}/stop"), &json!({"how": "now"})).await.expect(202);
    site.server.delete(&format!("transactions/{run}?force=1")).await;
    let node = site.nodes[0];
    assert_eq!(site.planned(json!({})).await, [format!("one@{node}"), format!("two@{node}")]);
}

/// Local agents do not join: their machine counts as replaced when its id changes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn local_agent_on_another_machine_counts_as_replaced() {
    let site = Site::new(&install()).await;
    site.attempts.set_machine(MACHINE);
    assert_eq!(site.deploy(json!({})).await["status"], "ready");
    let agent = format!("nodes/{}/agent", site.nodes[0]);
    site.server.delete(&agent).await.expect(204);
    site.deploy(json!({"force": true})).await;
    assert_eq!(site.replacements().await, Vec::<String>::new(), "the agent restarted on the same machine");
    site.server.delete(&agent).await.expect(204);
    site.attempts.set_machine(OTHER_MACHINE);
    site.deploy(json!({"force": true})).await;
    let messages = site.replacements().await;
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert!(messages[0].contains("its agent runs on a machine with another id"), "{messages:?}");
    assert_eq!(site.n_audit_entries("node.replaced").await, 1);
    site.deploy(json!({})).await;
    assert_eq!(site.planned(json!({})).await, Vec::<String>::new(), "the new machine is deployed");
}

/// After a start of the server, no local agent is connected until a run needs it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plan_notices_that_the_machine_of_a_local_agent_was_replaced() {
    let site = Site::new(&install()).await;
    site.attempts.set_machine(MACHINE);
    assert_eq!(site.deploy(json!({})).await["status"], "ready");
    site.attempts.set_machine(OTHER_MACHINE);
    site.server.delete(&format!("nodes/{}/agent", site.nodes[0])).await.expect(204);
    let expected = [format!("install@{}", site.nodes[0])];
    // The server closes the connection in the background.
    for _ in 0..400 {
        if site.planned(json!({})).await == expected {
            break;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    assert_eq!(site.planned(json!({})).await, expected);
    assert_eq!(site.replacements().await.len(), 1);
    assert_eq!(site.deploy(json!({})).await["status"], "ready");
    assert_eq!(site.planned(json!({})).await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn announced_replacement_waits_for_the_next_join() {
    let site = Site::new(&install()).await;
    let node = site.nodes[0];
    let path = format!("nodes/{node}/replace");
    assert_eq!(site.deploy(json!({})).await["status"], "ready");
    let replaced = site.server.post(&path, &json!({})).await.expect(200);
    assert_eq!((&replaced["status"], &replaced["pending_addition"]), (&json!("discover"), &json!(true)));
    assert_eq!(replaced["pending_roles"], json!(["controller"]));
    assert_eq!(site.planned(json!({})).await, [format!("install@{node}")]);
    let messages = site.replacements().await;
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert!(messages[0].contains("will be replaced: its agent was revoked"), "{messages:?}");
    assert_eq!(site.n_audit_entries("node.replace").await, 1);
    // A plain token does not admit the new machine. Its join is not another replacement.
    let plain = site.server.post("join_tokens", &json!({})).await.expect(201);
    let body = json!({"token": plain["token"], "node": node.to_string()});
    let error = site.server.post("agents/join", &body).await.expect_error(403);
    assert!(error.contains("may_replace"), "{error}");
    let joined = site.join_first(&machine("new", None, MACHINE)).await;
    assert_eq!(site.replacements().await.len(), 1);
    // The next replacement revokes the credential of this machine. Plans exclude the node until another one connects.
    let replaced = site.server.post(&path, &json!({})).await.expect(200);
    assert_eq!(replaced["online"], false, "{replaced}");
    assert_eq!(site.planned(json!({})).await, Vec::<String>::new());
    let plans = site.server.get(&format!("clusters/{}/plans?order_by=-id&limit=1", site.cluster)).await;
    let plan = site.server.get(&format!("plans/{}", plans.expect(200)[0]["id"])).await.expect(200);
    let excluded = plan["excluded"].as_array().unwrap();
    assert!(excluded.iter().any(|entry| entry["nodes"] == json!([node.to_string()])), "{plan}");
    let credential = joined["credential"].as_str().unwrap();
    site.server.send_as(credential, "POST", "agents/nats_user", &Value::Null).await.expect_error(401);
    site.server.post("nodes/99/replace", &json!({})).await.expect_error(404);
    let viewer = site.server.create_user("vic", "admin", "viewer").await;
    site.server.send_as(&viewer, "POST", &path, &Value::Null).await.expect_error(403);
}
