//! Where the agent of a node is: inside of the server, on its machine, and on its way from one to the other.

use serde_json::{Value, json};

use crate::site::{Site, join_token, until};

fn task(cmd: &str) -> Value {
    json!([{"id": "work", "type": "shell", "version": "2.0.0", "roles": ["storage"],
        "parameters": {"cmd": cmd, "timeout": 60, "retries": 0}}])
}

/// A node that has no agent.
fn add_node(site: &Site) -> i64 {
    let body = json!({"mac": "52:54:00:00:07:01", "status": "discover"});
    let id = site.client.expect(201, "POST", "/api/v1/nodes/", Some(&body))["id"].as_i64().unwrap();
    let roles = json!([{"id": id, "roles": ["storage"]}]);
    site.client.expect(200, "POST", &format!("/api/v1/clusters/{}/assignment", site.cluster), Some(&roles));
    id
}

/// A run on one node alone.
fn only(node: i64) -> Value {
    json!({"graphs": [{"type": "default", "nodes": [node]}]})
}

/// Of a run with one task on one node.
fn row(site: &Site, run: i64) -> Value {
    let rows = site.history(run);
    rows.iter().find(|row| row["task_name"] == "work").cloned().unwrap_or_else(|| panic!("{rows:?}"))
}

#[test]
fn the_agent_of_a_new_machine_makes_its_node() {
    let mut site = Site::new(&json!([]));
    let token = join_token(&site.client, &json!({}));
    site.start_agent_called("newcomer", &token);
    let Some(mac) = stoker_agent::facts::collect().get("mac").cloned() else {
        // A machine without a network has to be made known by hand.
        until("it is told", || site.read("newcomer.log").contains("none can be made").then_some(()));
        return;
    };
    let node = until("the node is there", || {
        let nodes = site.get("/api/v1/nodes/")?;
        nodes.as_array()?.iter().find(|node| node["name"] == "newcomer").cloned()
    });
    assert_eq!(node["mac"], mac);
    assert!(node["os_platform"].is_string(), "{node}");
    let shown = site.get(&format!("/api/v1/nodes/{}", node["id"])).unwrap();
    for fact in ["hostname", "addresses", "os", "cores", "memory_bytes", "disks"] {
        assert!(!shown["facts"][fact].is_null(), "{fact}: {shown}");
    }
    // The same machine under another name: two agents of one node would do everything twice.
    site.start_agent_called("other", &token);
    until("it is refused", || {
        site.read("other.log").contains("the MAC address of this machine").then_some(())
    });
}

#[test]
fn an_agent_of_its_own_takes_the_place_of_one_inside_of_the_server() {
    let mut site = Site::with(&json!([]), &["--local-agents"]);
    let node = add_node(&site);
    let (begun, go) = (site.file("begun").display().to_string(), site.file("go").display().to_string());
    site.upload(&task(&format!(
        "echo \"$STOKER_ATTEMPT\" >>{begun}; until [ -e {go} ]; do sleep 0.05; done"
    )));
    let run = site.execute(&only(node));
    until("the agent inside begins", || site.read("begun").ends_with('\n').then_some(()));
    let token = join_token(&site.client, &json!({}));
    site.start_agent_called(&node.to_string(), &token);
    // What the one had begun is not begun again by the other, whose journal does not know it.
    assert_eq!(site.ended(run)["status"], "error");
    let told = row(&site, run);
    assert!(told["reason"].as_str().unwrap().contains("interrupted"), "{told}");
    assert_eq!(site.read("begun").lines().count(), 1, "{}", site.read("begun"));
    // From now on the one inside keeps away.
    std::fs::write(&go, "").unwrap();
    assert_eq!(site.deploy(&only(node))["status"], "ready");
    let marks = site.read("begun");
    let own = site.file(&node.to_string()).display().to_string();
    assert!(marks.lines().nth(1).is_some_and(|mark| mark.ends_with(&own)), "{marks}");
    let log = site.read(&format!("{node}.log"));
    assert_eq!(log.matches("the connection is lost").count(), 0, "{log}");
}
