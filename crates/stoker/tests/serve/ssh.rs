//! Nodes without a resident agent: the server starts one over SSH, with a real server of SSH in between.

use serde_json::{Value, json};

use crate::site::{Site, until};
use crate::sshd::{Sshd, is_skipped};

/// A node that is reached over SSH, with a role of its own.
fn add_node(site: &Site, sshd: &Sshd, number: usize) -> i64 {
    let body =
        json!({"mac": format!("52:54:00:00:01:{number:02x}"), "status": "discover", "ip": "127.0.0.1"});
    let id = site.client.expect(201, "POST", "/api/v1/nodes/", Some(&body))["id"].as_i64().unwrap();
    let state = sshd.folder.file(&format!("state of {id}")).display().to_string();
    let attributes = json!({"transport": "ssh", "ssh": {
        "port": sshd.port, "options": sshd.options(), "program": env!("CARGO_BIN_EXE_stoker"), "state": state,
    }});
    let roles = json!([{"id": id, "roles": ["compute"]}]);
    site.client.expect(200, "POST", &format!("/api/v1/clusters/{}/assignment", site.cluster), Some(&roles));
    site.client.expect(200, "PUT", &format!("/api/v1/nodes/{id}/attributes"), Some(&attributes));
    id
}

fn task(name: &str, cmd: &str) -> Value {
    json!({
        "id": name, "type": "shell", "version": "2.0.0", "roles": ["compute"],
        "parameters": {"cmd": cmd, "timeout": 60, "retries": 0},
    })
}

#[test]
fn a_node_that_is_reached_over_ssh_is_deployed() {
    if is_skipped() {
        return;
    }
    let sshd = Sshd::start();
    let site = Site::new(&json!([]));
    let node = add_node(&site, &sshd, 1);
    let trace = site.file("trace").display().to_string();
    site.upload(&json!([task(
        "greet",
        &format!("echo \"$STOKER_NODE $SSH_CONNECTION\" >>{trace}; echo hello")
    )]));
    let run = site.deploy(&json!({}));
    assert_eq!(run["status"], "ready", "{run} {:?}", site.history(run["id"].as_i64().unwrap()));
    let traced = site.read("trace");
    let line = traced
        .lines()
        .find(|line| line.starts_with(&format!("{node} ")))
        .unwrap_or_else(|| panic!("{traced}"));
    assert!(line.contains("127.0.0.1"), "it ran inside of a connection of SSH: {line}");
    let plain = traced.lines().find(|line| line.starts_with(&format!("{} ", site.nodes[1]))).unwrap();
    assert!(!plain.contains("127.0.0.1"), "the agent of the other node is a resident: {plain}");
    let path = format!("/api/v1/runs/{}/output?task=greet&node={node}", run["id"]);
    let printed = site.client.expect(200, "GET", &path, None);
    assert!(printed.to_string().contains("hello"), "{printed}");
}

#[test]
fn a_mistake_in_how_a_node_is_reached_can_be_set_right_while_a_run_waits() {
    if is_skipped() {
        return;
    }
    let sshd = Sshd::start();
    let site = Site::new(&json!([]));
    let node = add_node(&site, &sshd, 1);
    let path = format!("/api/v1/nodes/{node}/attributes");
    let to_port = |port: u16| json!({"ssh": {"port": port}});
    site.client.expect(200, "PUT", &path, Some(&to_port(1)));
    site.upload(&json!([task("greet", "echo hello")]));
    let run = site.execute(&json!({}));
    until("nobody is there", || site.read("server.log").contains("Connection refused").then_some(()));
    let (status, answer) = site.client.call("PUT", &path, Some(&json!({"ssh": {"prot": 22}}))).unwrap();
    assert_eq!((status, &answer["errors"][0]["path"]), (400, &json!("ssh.prot")), "{answer}");
    site.client.expect(200, "PUT", &path, Some(&to_port(sshd.port)));
    let ended = site.ended(run);
    assert_eq!(ended["status"], "ready", "{ended} {:?}", site.history(run));
}

#[test]
fn a_run_over_ssh_survives_the_server() {
    if is_skipped() {
        return;
    }
    let sshd = Sshd::start();
    let mut site = Site::new(&json!([]));
    let node = add_node(&site, &sshd, 1);
    let trace = site.file("trace").display().to_string();
    let cmd = format!("echo begin-$STOKER_NODE >>{trace}; sleep 3; echo end-$STOKER_NODE >>{trace}");
    site.upload(&json!([task("slow", &cmd)]));
    let run = site.execute(&json!({}));
    until("the task begins", || site.read("trace").contains(&format!("begin-{node}\n")).then_some(()));
    site.kill_server();
    site.start_server();
    let ended = site.ended(run);
    assert_eq!(ended["status"], "ready", "{ended} {:?}", site.history(run));
    let traced = site.read("trace");
    for word in ["begin", "end"] {
        assert_eq!(traced.matches(&format!("{word}-{node}\n")).count(), 1, "{traced}");
    }
}
