//! Modules with real commands, a real server and agents that run module drivers.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use serde_json::{Value, json};
use stoker_testkit::TempFolder;

use crate::process::{PASSWORD, Process};

/// A server with in-process agents and one node in a cluster.
struct Site {
    data: TempFolder,
    work: TempFolder,
    server: Process,
    node: String,
}

impl Site {
    fn new() -> Self {
        let (data, work) = (TempFolder::new(), TempFolder::new());
        let server = Process::start_with(data.path(), &["--local-agents"]);
        let client = server.client();
        let release =
            json!({"name": "kv", "version": "1", "operating_system": "Debian", "state": "available"});
        client.expect(201, "POST", "/api/v1/releases", Some(&release));
        client.expect(
            201,
            "POST",
            "/api/v1/nodes",
            Some(&json!({"mac": "52:54:00:00:00:01", "status": "discover"})),
        );
        let instance = json!({"instance": {"name": "kv-1"}});
        let response = client.expect(200, "POST", "/v1.0/instances", Some(&instance));
        let node = response["instance"]["id"].as_str().unwrap().to_owned();
        Self { data, work, server, node }
    }

    /// Runs a command.
    fn stoker(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_stoker"))
            .args(arguments)
            .current_dir(self.work.path())
            .env("STOKER_SERVER", format!("http://{}", self.server.address))
            .env("STOKER_PASSWORD", PASSWORD)
            .env("XDG_CONFIG_HOME", self.work.path())
            .env_remove("STOKER_TOKEN")
            .output()
            .unwrap()
    }

    #[track_caller]
    fn module(&self, arguments: &[&str]) -> String {
        let output = self.stoker(&[&["module"], arguments].concat());
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{arguments:?}: {out}{err}");
        out.into_owned()
    }

    #[track_caller]
    fn json(&self, arguments: &[&str]) -> Value {
        let text = self.module(&[arguments, &["--output", "json"]].concat());
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// Asserts that a command fails; returns its exit code and standard error.
    #[track_caller]
    fn expect_failure(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.stoker(&[&["module"], arguments].concat());
        assert!(!output.status.success(), "{arguments:?}");
        (output.status.code().unwrap(), String::from_utf8_lossy(&output.stderr).into_owned())
    }

    fn script(&self, name: &str, text: &str) {
        fs::write(self.work.file(name), text).unwrap();
    }

    fn trace(&self) -> String {
        fs::read_to_string(self.work.file("trace")).unwrap_or_default()
    }

    fn write_tracing_script(&self, name: &str) {
        let trace = self.work.file("trace");
        self.script(name, &format!("#!/bin/sh\necho $1 {name} >> {}\necho well\n", trace.display()));
    }
}

#[test]
fn modules_are_applied_in_priority_and_apply_order() {
    let site = Site::new();
    let table = [
        ("sixth", false, "9"),
        ("second", true, "4"),
        ("fourth", false, "0"),
        ("third", true, "9"),
        ("fifth", false, "1"),
        ("first", true, "0"),
    ];
    for (name, priority, order) in table {
        site.write_tracing_script(name);
        let mut arguments = vec!["create", name, "--type", "script", "--file", name, "--apply-order", order];
        if priority {
            arguments.push("--priority-apply");
        }
        site.module(&arguments);
    }
    let names: Vec<&str> = table.iter().map(|(name, ..)| *name).collect();
    let results = site.json(&[&["apply", &site.node], &names[..]].concat());
    let expected_order = ["first", "second", "third", "fourth", "fifth", "sixth"];
    let applied: Vec<&str> =
        results.as_array().unwrap().iter().map(|result| result["name"].as_str().unwrap()).collect();
    assert_eq!(applied, expected_order);
    let expected = expected_order.map(|name| format!("apply {name}"));
    assert_eq!(site.trace().lines().collect::<Vec<_>>(), expected);
    site.module(&["remove", &site.node, "third"]);
    assert!(site.trace().ends_with("remove third\n"));
    let node_modules = site.json(&["instances", "--node", &site.node]);
    assert_eq!(node_modules.as_array().unwrap().len(), 5);
}

#[test]
fn module_commands_work() {
    let site = Site::new();
    site.script("hello", "message=hello\n");
    site.script("empty", "");
    site.module(&["create", "greeting", "--type", "ping", "--file", "hello", "--live-update"]);
    let module = site.json(&["show", "greeting"]);
    assert_eq!((&module["live_update"], &module["apply_order"]), (&json!(true), &json!(5)));
    site.module(&["update", "greeting", "--apply-order", "2", "--hidden"]);
    let modules = site.json(&["list"]);
    assert_eq!((&modules[0]["apply_order"], &modules[0]["visible"]), (&json!(2), &json!(false)));
    let applied = site.json(&["apply", "kv-1", "greeting"]);
    assert_eq!(applied[0]["message"], "hello");
    let counts = site.json(&["instances", "greeting", "--count"]);
    assert_eq!((&counts[0]["instance_count"], &counts[0]["current"]), (&json!(1), &json!(true)));
    assert_eq!(site.json(&["instances", "greeting"])[0]["id"], site.node.as_str());
    site.module(&["reapply", "greeting", "--force", "--delay", "0"]);
    site.module(&["remove", &site.node, "greeting"]);
    site.module(&["delete", "greeting", "--yes"]);
    for (arguments, code, expected_message) in [
        (&["create", "x", "--type", "nonesuch", "--file", "hello"][..], 1, "type 'nonesuch' was not found"),
        (&["create", "x", "--type", "ping", "--file", "empty"], 3, "is empty"),
        (&["create", "x", "--type", "ping", "--file", "nowhere"], 3, "cannot read"),
        (&["create", "x", "--type", "ping", "--file", "hello", "--apply-order", "10"], 2, "10"),
        (&["update", "greeting"], 2, "no fields to update"),
        (&["show", "greeting"], 1, "module `greeting` not found"),
        (&["apply", "99", "greeting"], 1, "module `greeting` not found"),
        (&["instances"], 2, "<MODULE>"),
    ] {
        let (exit_code, stderr) = site.expect_failure(arguments);
        assert!(
            exit_code == code && stderr.contains(expected_message),
            "{arguments:?}: {exit_code} {stderr}"
        );
    }
    site.script("bad", "nonsense\n");
    site.module(&["create", "bad", "--type", "ping", "--file", "bad"]);
    let (code, stderr) = site.expect_failure(&["apply", &site.node, "bad"]);
    assert!(code == 1 && stderr.contains("failed to apply 1 module: bad"), "{stderr}");
}

#[test]
fn keys_are_rotated_while_the_server_runs() {
    let site = Site::new();
    site.script("hello", "message=hello\n");
    site.module(&["create", "greeting", "--type", "ping", "--file", "hello"]);
    site.module(&["apply", &site.node, "greeting"]);
    let key_file = site.data.file("modules.key");
    let before = fs::read_to_string(&key_file).unwrap();
    for _ in 0..2 {
        site.module(&["rotate-key", "--data-dir", site.data.path().to_str().unwrap()]);
    }
    let after = fs::read_to_string(&key_file).unwrap();
    let first_of = |text: &str| text.lines().find(|line| !line.starts_with('#')).unwrap().to_owned();
    assert!(!after.contains(&first_of(&before)), "the key before the previous one is deleted");
    assert_eq!(site.json(&["apply", &site.node, "greeting"])[0]["message"], "hello");
    let contents = format!("/v1.0/instances/{}/modules?include_contents=1", site.node);
    let modules = site.server.client().expect(200, "GET", &contents, None);
    assert_eq!(modules["modules"][0]["contents"], "bWVzc2FnZT1oZWxsbwo=");
    let database = fs::read(site.data.file("stoker.db")).unwrap();
    let has = |text: &[u8]| database.windows(text.len()).any(|window| window == text);
    assert!(!has(b"bWVzc2FnZT1oZWxsbwo=") && !has(b"message=hello"));
}

#[test]
fn killed_server_records_no_partial_results() {
    let mut site = Site::new();
    let slow = format!("#!/bin/sh\necho started >> {}\nsleep 3\n", site.work.file("trace").display());
    site.script("slow", &slow);
    site.write_tracing_script("after");
    site.module(&["create", "slow", "--type", "script", "--file", "slow", "--apply-order", "1"]);
    site.module(&["create", "after", "--type", "script", "--file", "after"]);
    let ids: Vec<Value> =
        site.json(&["list"]).as_array().unwrap().iter().map(|module| json!({"id": module["id"]})).collect();
    let path = format!("/v1.0/instances/{}/modules", site.node);
    let request = {
        let (client, path) = (site.server.client(), path.clone());
        std::thread::spawn(move || client.call("POST", &path, Some(&json!({"modules": ids}))).map(drop))
    };
    wait_for(&site.work.file("trace"));
    site.server.kill();
    assert!(request.join().unwrap().is_err(), "the request was not answered");
    site.server = Process::start_with(site.data.path(), &["--local-agents"]);
    let client = site.server.client();
    let mut final_status = None;
    for _ in 0..300 {
        let runs = client.expect(200, "GET", "/api/v1/transactions/", None);
        let run = runs.as_array().unwrap().iter().rfind(|run| run["name"] == "modules").unwrap();
        if run["status"] != "running" {
            final_status = Some(run["status"].clone());
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(final_status, Some(json!("error")), "the result is unknown");
    assert_eq!(
        client.expect(200, "GET", &path, None)["modules"],
        json!([]),
        "no module is recorded as applied"
    );
    assert_eq!(site.json(&["apply", &site.node, "slow", "after"]).as_array().unwrap().len(), 2);
}

fn wait_for(path: &Path) {
    for _ in 0..300 {
        if path.exists() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("timed out waiting for {}", path.display());
}
