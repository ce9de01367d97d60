//! Location of the agent of a node: in the server process, on its machine, and the switch between them.

use serde_json::{Value, json};

use crate::site::{Site, join_token, until};

fn task(cmd: &str) -> Value {
    json!([{"id": "work", "type": "shell", "version": "2.0.0", "roles": ["storage"],
        "parameters": {"cmd": cmd, "timeout": 60, "retries": 0}}])
}

/// Adds a node without an agent.
fn add_node(site: &Site) -> i64 {
    let body = json!({"mac": "52:54:00:00:07:01", "status": "discover"});
    let id = site.client.expect(201, "POST", "/api/v1/nodes/", Some(&body))["id"].as_i64().unwrap();
    let roles = json!([{"id": id, "roles": ["storage"]}]);
    site.client.expect(200, "POST", &format!("/api/v1/clusters/{}/assignment", site.cluster), Some(&roles));
    id
}

/// Returns the request to run on one node only.
fn run_on_node(node: i64) -> Value {
    json!({"graphs": [{"type": "default", "nodes": [node]}]})
}

/// Returns the history record of a run with one task on one node.
fn work_record(site: &Site, run: i64) -> Value {
    let rows = site.history(run);
    rows.iter().find(|row| row["task_name"] == "work").cloned().unwrap_or_else(|| panic!("{rows:?}"))
}

#[test]
fn agent_of_an_unknown_machine_creates_its_node() {
    let mut site = Site::new(&json!([]));
    let token = join_token(&site.client, &json!({}));
    site.start_agent_named("newcomer", &token);
    let Some(mac) = stoker_agent::facts::collect().get("mac").cloned() else {
        // Without a network, the node must be created manually.
        until("the agent reports the error", || {
            site.read("newcomer.log").contains("cannot be created without a MAC address").then_some(())
        });
        stoker_testenv::skip!("no network interface with a MAC address");
    };
    let node = until("the node exists", || {
        let nodes = site.get("/api/v1/nodes/")?;
        nodes.as_array()?.iter().find(|node| node["name"] == "newcomer").cloned()
    });
    assert_eq!(node["mac"], mac);
    assert!(node["os_platform"].is_string(), "{node}");
    let details = site.get(&format!("/api/v1/nodes/{}", node["id"])).unwrap();
    for fact in ["hostname", "addresses", "os", "cores", "memory_bytes", "disks"] {
        assert!(!details["facts"][fact].is_null(), "{fact}: {details}");
    }
    // Another agent on the same machine is rejected: two agents of one node would execute all tasks twice.
    site.start_agent_named("other", &token);
    until("the second agent is rejected", || {
        site.read("other.log").contains("the MAC address of this machine").then_some(())
    });
}

#[test]
fn joining_agent_replaces_the_in_process_agent() {
    let mut site = Site::with(&json!([]), &["--local-agents"]);
    let node = add_node(&site);
    let (started, go) = (site.file("started").display().to_string(), site.file("go").display().to_string());
    site.upload(&task(&format!(
        "echo \"$STOKER_ATTEMPT\" >>{started}; until [ -e {go} ]; do sleep 0.05; done"
    )));
    let run = site.execute(&run_on_node(node));
    until("the in-process agent starts the task", || site.read("started").ends_with('\n').then_some(()));
    let token = join_token(&site.client, &json!({}));
    site.start_agent_named(&node.to_string(), &token);
    // The new agent does not repeat the attempt, although its journal does not contain it.
    assert_eq!(site.wait_for_end(run)["status"], "error");
    let record = work_record(&site, run);
    assert!(record["reason"].as_str().unwrap().contains("interrupted"), "{record}");
    assert_eq!(site.read("started").lines().count(), 1, "{}", site.read("started"));
    // From now on, the in-process agent stays inactive.
    std::fs::write(&go, "").unwrap();
    assert_eq!(site.deploy(&run_on_node(node))["status"], "ready");
    let marks = site.read("started");
    let own_folder = site.file(&node.to_string()).display().to_string();
    assert!(marks.lines().nth(1).is_some_and(|mark| mark.ends_with(&own_folder)), "{marks}");
    let log = site.read(&format!("{node}.log"));
    assert_eq!(log.matches("connection lost").count(), 0, "{log}");
}
