//! Nodes without a resident agent: the server starts one over a real SSH server.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::site::{Site, until};
use crate::sshd::{Sshd, is_skipped};

/// Adds a node that is reached over SSH.
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
fn node_is_deployed_over_ssh() {
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
    let trace_text = site.read("trace");
    let line = trace_text
        .lines()
        .find(|line| line.starts_with(&format!("{node} ")))
        .unwrap_or_else(|| panic!("{trace_text}"));
    assert!(line.contains("127.0.0.1"), "the task ran in an SSH session: {line}");
    let resident_line =
        trace_text.lines().find(|line| line.starts_with(&format!("{} ", site.nodes[1]))).unwrap();
    assert!(!resident_line.contains("127.0.0.1"), "the agent of the other node is resident: {resident_line}");
    let path = format!("/api/v1/runs/{}/output?task=greet&node={node}", run["id"]);
    let output = site.client.expect(200, "GET", &path, None);
    assert!(output.to_string().contains("hello"), "{output}");
}

/// The agent program of a node whose machine has the id in the file `machine-id`.
fn program_with_machine_id(sshd: &Sshd) -> String {
    let (program, id) = (sshd.folder.file("agent"), sshd.folder.file("machine-id"));
    let text = format!(
        "#!/bin/sh\n{} \"$@\" | sed -u 's/\"machine_id\":\"[^\"]*\"/\"machine_id\":\"'$(cat {})'\"/'\n",
        env!("CARGO_BIN_EXE_stoker"),
        id.display()
    );
    std::fs::write(&program, text).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    program.display().to_string()
}

/// After a start of the server, no agent is connected over SSH, so a plan connects and compares the machines.
#[test]
fn plan_notices_that_a_machine_was_replaced_while_the_server_was_down() {
    if is_skipped() {
        return;
    }
    let sshd = Sshd::start();
    let mut site = Site::new(&json!([]));
    let node = add_node(&site, &sshd, 1);
    let set_id = |digit: &str| std::fs::write(sshd.folder.file("machine-id"), digit.repeat(32)).unwrap();
    set_id("a");
    let path = format!("/api/v1/nodes/{node}/attributes");
    let attributes = json!({"ssh": {"program": program_with_machine_id(&sshd)}});
    site.client.expect(200, "PUT", &path, Some(&attributes));
    let mut greet = task("greet", "true");
    greet["version"] = json!("3.0.0");
    site.upload(&json!([greet]));
    let run = site.deploy(&json!({}));
    assert_eq!(run["status"], "ready", "{run} {:?}", site.history(run["id"].as_i64().unwrap()));
    let plan = |site: &Site| {
        let path = format!("/api/v1/clusters/{}/plans", site.cluster);
        let id = site.client.expect(201, "POST", &path, Some(&json!({})))["id"].clone();
        site.client.expect(200, "GET", &format!("/api/v1/plans/{id}"), None)
    };
    let unverified = |plan: &Value| {
        let warnings = plan["warnings"].as_array().unwrap();
        warnings.iter().any(|warning| {
            warning["code"] == "plan-unverified-machine" && warning["nodes"] == json!([node.to_string()])
        })
    };
    let unchanged = plan(&site);
    assert_eq!((&unchanged["n_run"], unverified(&unchanged)), (&json!(0), false), "{unchanged}");
    // The same machine.
    site.kill_server();
    site.start_server();
    let unchanged = plan(&site);
    assert_eq!((&unchanged["n_run"], unverified(&unchanged)), (&json!(0), false), "{unchanged}");
    // An unreachable machine.
    site.kill_server();
    std::fs::remove_file(sshd.folder.file("authorized_keys")).unwrap();
    site.start_server();
    let unknown = plan(&site);
    assert_eq!((&unknown["n_run"], unverified(&unknown)), (&json!(0), true), "{unknown}");
    // Another machine.
    site.kill_server();
    set_id("b");
    std::fs::copy(sshd.folder.file("key.pub"), sshd.folder.file("authorized_keys")).unwrap();
    site.start_server();
    let replaced = plan(&site);
    assert_eq!((&replaced["n_run"], unverified(&replaced)), (&json!(1), false), "{replaced}");
}

#[test]
fn ssh_settings_can_be_fixed_while_a_run_waits() {
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
    until("the connection is refused", || {
        site.read("server.log").contains("Connection refused").then_some(())
    });
    let (status, response) = site.client.call("PUT", &path, Some(&json!({"ssh": {"prot": 22}}))).unwrap();
    assert_eq!((status, &response["errors"][0]["path"]), (400, &json!("ssh.prot")), "{response}");
    site.client.expect(200, "PUT", &path, Some(&to_port(sshd.port)));
    let details = site.wait_for_end(run);
    assert_eq!(details["status"], "ready", "{details} {:?}", site.history(run));
}

#[test]
fn run_over_ssh_survives_a_server_kill() {
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
    until("the task starts", || site.read("trace").contains(&format!("begin-{node}\n")).then_some(()));
    site.kill_server();
    site.start_server();
    let details = site.wait_for_end(run);
    assert_eq!(details["status"], "ready", "{details} {:?}", site.history(run));
    let trace_text = site.read("trace");
    for word in ["begin", "end"] {
        assert_eq!(trace_text.matches(&format!("{word}-{node}\n")).count(), 1, "{trace_text}");
    }
}
