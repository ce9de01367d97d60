//! Runs over the REST API: a server and three agents as separate processes.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::site::{Site, until};

#[expect(clippy::needless_pass_by_value, reason = "arguments are literals")]
fn task(name: &str, roles: Value, cmd: Value, more: &Value) -> Value {
    let mut task = json!({
        "id": name, "type": "shell", "version": "2.1.0", "roles": roles,
        "parameters": {"cmd": cmd, "retries": 0, "timeout": 60},
    });
    for (key, value) in more.as_object().unwrap() {
        task[key] = value.clone();
    }
    task
}

fn status_of(history: &[Value], task: &str, node: i64) -> Value {
    let is_match = |row: &&Value| row["task_name"] == task && row["node_id"] == node.to_string().as_str();
    history.iter().find(is_match).unwrap_or_else(|| panic!("{task} on {node} is not in {history:?}")).clone()
}

/// Returns the unfinished history records of a finished run.
fn unfinished(site: &Site, run: &Value) -> Value {
    let id = run["id"].as_i64().unwrap();
    let path = format!("/api/v1/transactions/{id}/deployment_history?statuses=pending,running");
    site.client.expect(200, "GET", &path, None)
}

#[test]
fn only_tasks_that_depend_on_a_changed_setting_run_again() {
    let site = Site::new(&json!([]));
    let (base, web) = (site.file("base").display().to_string(), site.file("web").display().to_string());
    let port = format!("'echo ' + str($.settings.web.port.value) + ' >>{web}'");
    site.upload(&json!([
        task(
            "base",
            json!("*"),
            json!(format!("echo $STOKER_NODE >>{base}")),
            &json!({
                "condition": {"yaql_exp": "changed($.cluster.name)"},
            })
        ),
        task(
            "web",
            json!(["controller"]),
            json!({"yaql_exp": port}),
            &json!({
                "requires": ["base"], "cross-depends": [{"name": "base", "role": "*"}],
                "condition": {"yaql_exp": "changed($.settings.web.port.value)"},
            })
        ),
        {"id": "shape", "type": "noop", "version": "2.1.0", "roles": ["controller"]},
    ]));
    let first = site.deploy(&json!({}));
    assert_eq!((&first["status"], &first["progress"]), (&json!("ready"), &json!(100)), "{first}");
    assert_eq!((site.read("base").lines().count(), site.read("web").as_str()), (3, "80\n"));
    let cluster = site.client.expect(200, "GET", &format!("/api/v1/clusters/{}", site.cluster), None);
    assert_eq!(cluster["status"], "operational");

    let settings = json!({"editable": {"web": {"port": {"value": 8080}}}});
    site.client.expect(200, "PUT", &format!("/api/v1/clusters/{}/attributes", site.cluster), Some(&settings));
    let second = site.deploy(&json!({}));
    assert_eq!(second["status"], "ready", "{second}");
    assert_eq!((site.read("base").lines().count(), site.read("web").as_str()), (3, "80\n8080\n"));
    let history = site.history(second["id"].as_i64().unwrap());
    assert_eq!(status_of(&history, "web", site.nodes[0])["status"], "ready");
    for node in &site.nodes {
        let row = status_of(&history, "base", *node);
        assert_eq!(row["status"], "skipped");
        assert_eq!(row["reason"], "`$.cluster.name` has not changed");
    }
    assert_eq!(status_of(&history, "shape", site.nodes[0])["status"], "skipped");
    assert_eq!(unfinished(&site, &second), json!([]));
    // The plan gives the reason.
    let details = site.client.expect(200, "GET", &format!("/api/v1/runs/{}", second["id"]), None);
    let plan = details["parts"][0]["plan_id"].as_i64().unwrap();
    let text = site.client.text(&format!("/api/v1/plans/{plan}/instances?task=web"));
    assert!(text.contains("8080") || text.contains("settings.web.port"), "{text}");
}

#[test]
fn run_waits_for_an_offline_agent() {
    let mut site = Site::new(&json!([]));
    let file = site.file("done").display().to_string();
    site.upload(&json!([task("mark", json!("*"), json!(format!("echo $STOKER_NODE >>{file}")), &json!({}))]));
    for node_idx in 0..3 {
        site.await_agent(node_idx);
    }
    site.kill_agent(2);
    let run = site.execute(&json!({}));
    until("the other nodes have finished", || (site.read("done").lines().count() == 2).then_some(()));
    assert_eq!(site.if_ended(run), None);
    site.start_agent(2);
    assert_eq!(site.wait_for_end(run)["status"], "ready");
    assert_eq!(site.read("done").lines().last(), Some(site.nodes[2].to_string().as_str()));
}

#[test]
fn node_offline_for_too_long_fails() {
    let mut site =
        Site::new(&json!([task("mark", json!(["controller", "compute"]), json!("true"), &json!({}))]));
    for node_idx in 0..3 {
        site.await_agent(node_idx);
    }
    site.kill_agent(1);
    // This node has no tasks in the run, and the server to which its agent was connected is restarted.
    site.kill_agent(2);
    site.kill_server();
    site.start_server();
    let run = site.deploy(&json!({"lost_after": 1}));
    assert_eq!(run["status"], "error", "{run}");
    let (message, lost) = (run["message"].as_str().unwrap(), site.nodes[1].to_string());
    assert!(message.ends_with(&format!("but 1 failed: {lost}")), "{message}");
    let node = site.client.expect(200, "GET", &format!("/api/v1/nodes/{lost}"), None);
    assert_eq!((&node["status"], &node["online"]), (&json!("error"), &json!(false)), "{node}");
    assert!(node["error_msg"].as_str().unwrap().contains("out of contact"), "{node}");
    let row = status_of(&site.history(run["id"].as_i64().unwrap()), "mark", site.nodes[1]);
    assert_eq!(row["status"], "error");
    until("the other node is offline too", || {
        let node = site.get(&format!("/api/v1/nodes/{}", site.nodes[2]))?;
        (node["online"] == false).then_some(())
    });
    // After the agent returns, the failed tasks can be retried.
    site.start_agent(1);
    site.await_agent(1);
    let retry = site.client.expect(202, "POST", &format!("/api/v1/runs/{}/retry", run["id"]), None);
    let retry = site.wait_for_end(retry["id"].as_i64().unwrap());
    assert_eq!(retry["status"], "ready");
    assert_eq!(unfinished(&site, &retry), json!([]));
}

#[test]
fn noop_run_changes_nothing() {
    let site = Site::new(&json!([]));
    let (file, copy) =
        (site.file("touched").display().to_string(), site.file("copied").display().to_string());
    site.upload(&json!([
        task("mark", json!("*"), json!(format!("echo $STOKER_NODE >>{file}")), &json!({})),
        {"id": "write", "type": "upload_file", "version": "2.1.0", "roles": "*",
         "parameters": {"path": copy, "data": "x"}},
    ]));
    let run = site.deploy(&json!({"noop_run": true}));
    assert_eq!(run["status"], "ready", "{run}");
    assert!(!Path::new(&file).exists() && !Path::new(&copy).exists());
    let nodes = site.client.expect(200, "GET", "/api/v1/nodes/", None);
    assert!(nodes.as_array().unwrap().iter().all(|node| node["status"] == "discover"), "{nodes}");
    // A no-op run records no success: the next run executes everything.
    assert_eq!(site.deploy(&json!({}))["status"], "ready");
    assert_eq!((site.read("touched").lines().count(), site.read("copied").as_str()), (3, "x"));
}

#[test]
fn stop_terminates_tasks_and_their_children() {
    let site = Site::new(&json!([]));
    let file = site.file("pid").display().to_string();
    site.upload(&json!([
        task(
            "slow",
            json!(["controller"]),
            json!(format!("sleep 1000 & echo $$ $! >{file}; wait")),
            &json!({})
        ),
        task("later", json!(["controller"]), json!("true"), &json!({"requires": ["slow"]})),
    ]));
    let run = site.execute(&json!({}));
    let pids = until("the task starts", || Some(site.read("pid")).filter(|text| text.ends_with('\n')));
    assert!(pids.split_whitespace().all(is_alive));
    let requested_at = Instant::now();
    site.client.expect(202, "POST", &format!("/api/v1/runs/{run}/stop"), Some(&json!({"how": "now"})));
    let details = site.wait_for_end(run);
    assert_eq!(details["message"], "the run was stopped", "{details}");
    assert!(!pids.split_whitespace().any(is_alive), "{pids}");
    assert!(requested_at.elapsed() < Duration::from_secs(20), "{:?}", requested_at.elapsed());
    let history = site.history(run);
    assert_eq!(status_of(&history, "slow", site.nodes[0])["status"], "error");
    assert_eq!(
        status_of(&history, "later", site.nodes[0])["reason"],
        "the run was stopped before this task started"
    );
    let node = site.client.expect(200, "GET", &format!("/api/v1/nodes/{}", site.nodes[0]), None);
    assert_eq!(node["status"], "stopped");
}

#[test]
fn misbehaving_task_is_terminated_and_its_agent_continues() {
    let site = Site::new(&json!([]));
    let file = site.file("pids").display().to_string();
    // The task forks, detaches a child, ignores SIGTERM, fills its output, and never ends.
    let worst = format!(
        "trap '' TERM\n\
         (trap '' TERM; setsid sleep 1000 & echo $! >>{file})\n\
         yes & echo $! $$ >>{file}\n\
         while :; do sleep 1; done\n"
    );
    let limits = json!({"parameters": {"cmd": worst, "retries": 0, "timeout": 1}});
    site.upload(&json!([task("worst", json!(["controller"]), json!(""), &limits)]));
    let run = site.deploy(&json!({}));
    assert_eq!(run["status"], "error");
    let row = status_of(&site.history(run["id"].as_i64().unwrap()), "worst", site.nodes[0]);
    assert!(row["reason"].as_str().unwrap().contains("longer than its timeout"), "{row}");
    let pids = site.read("pids");
    assert_eq!(pids.split_whitespace().count(), 3);
    assert!(!pids.split_whitespace().any(is_alive), "{pids}");
    site.upload(&json!([task("well", json!(["controller"]), json!("true"), &json!({}))]));
    assert_eq!(site.deploy(&json!({}))["status"], "ready");
}

#[test]
fn secrets_are_masked_in_output() {
    const SECRET: &str = "correct-horse-battery";
    const BEFORE: &str = "incorrect-mule-charger";
    let site = Site::new(&json!([]));
    let set = |entry: &str| {
        let settings = json!({"editable": {"db": {"entry": {"value": entry}}}});
        let path = format!("/api/v1/clusters/{}/attributes", site.cluster);
        site.client.expect(200, "PUT", &path, Some(&settings));
    };
    // A task that compares the old with the new secret prints both.
    set(BEFORE);
    site.upload(&json!([task("tell", json!(["controller"]), json!("true"), &json!({}))]));
    assert_eq!(site.deploy(&json!({}))["status"], "ready");
    std::fs::write(site.file("before"), BEFORE).unwrap();
    let cat = format!("cat {}; echo; ", site.file("before").display());
    let cmd = json!({"yaql_exp": format!("'{cat}echo the entry is ' + $.settings.db.entry.value + '; echo ' + $.settings.db.entry.value + ' >&2; exit 3'")});
    site.upload(&json!([task("tell", json!(["controller"]), cmd, &json!({}))]));
    set(SECRET);
    let run = site.deploy(&json!({}));
    assert_eq!(run["status"], "error");
    let (id, node) = (run["id"].as_i64().unwrap(), site.nodes[0]);
    let path = format!("/api/v1/runs/{id}/output?task=tell&node={node}");
    let chunks = until("the output is stored", || {
        site.get(&path).filter(|chunks| chunks.as_array().is_some_and(|chunks| chunks.len() == 2))
    });
    let text = |stream: &str| {
        let mut chunks = chunks.as_array().unwrap().iter();
        chunks.find(|chunk| chunk["stream"] == stream).unwrap()["text"].as_str().unwrap().to_owned()
    };
    assert_eq!(text("out"), "***\nthe entry is ***\n");
    let plan =
        site.client.expect(200, "GET", &format!("/api/v1/runs/{id}"), None)["parts"][0]["plan_id"].clone();
    let paths = [
        path,
        format!("/api/v1/runs/{id}"),
        format!("/api/v1/runs/{id}/events"),
        format!("/api/v1/runs/{id}/output?search=entry"),
        format!("/api/v1/transactions/{id}"),
        format!("/api/v1/transactions/{id}/deployment_history?include_summary=1"),
        format!("/api/v1/plans/{plan}"),
        format!("/api/v1/plans/{plan}/instances"),
        format!("/api/v1/nodes/{node}"),
        "/api/v1/audit".to_owned(),
    ];
    for path in paths {
        let text = site.client.text(&path);
        assert!(!text.contains(SECRET) && !text.contains(BEFORE), "{path}: {text}");
    }
    for log in ["server.log", "agent-0.log"] {
        assert!(!site.read(log).contains(SECRET), "{log}");
    }
}

#[test]
fn server_stops_immediately_and_its_runs_continue() {
    let mut site = Site::new(&json!([]));
    let file = site.file("slow").display().to_string();
    let cmd =
        format!("echo started >>{file}; until [ -e {file}.go ]; do sleep 0.05; done; echo done >>{file}");
    site.upload(&json!([task("slow", json!(["controller"]), json!(cmd), &json!({}))]));
    let run = site.execute(&json!({}));
    until("the task starts", || (site.read("slow") == "started\n").then_some(()));
    let stream = site.client.watch(&format!("/api/v1/runs/{run}/events"), "event: started");
    let requested_at = Instant::now();
    site.terminate_server();
    assert!(requested_at.elapsed() < Duration::from_secs(5), "{:?}", requested_at.elapsed());
    // Open event streams do not delay the shutdown.
    stream.join().unwrap();
    std::fs::write(format!("{file}.go"), "").unwrap();
    until("the task ends", || site.read("slow").ends_with("done\n").then_some(()));
    site.start_server();
    assert_eq!(site.wait_for_end(run)["status"], "ready");
    assert_eq!(site.read("slow"), "started\ndone\n", "the task is not executed again");
}

fn is_alive(pid: &str) -> bool {
    // A zombie counts as ended.
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|fields| !fields.trim().is_empty() && !fields.trim().starts_with('Z'))
}
