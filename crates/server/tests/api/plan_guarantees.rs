//! What users may rely on: the same decisions however a run starts, edits of files are seen, and warnings are shown.

use serde_json::{Value, json};

use crate::beginnings::id;
use crate::runs::{Site, task};

impl Site {
    /// Tasks and nodes of the attempts since the last call, sorted.
    fn executed(&self) -> Vec<String> {
        let mut executed = self.attempts.take();
        executed.sort();
        executed
    }

    async fn start(&self, method: &str, path: &str, body: Value) {
        let reply = match method {
            "PUT" => self.server.put(path, &body).await,
            _ => self.server.post(path, &body).await,
        };
        let run = id(&reply.expect(202));
        let run = self.wait_for_end(run).await;
        assert_eq!(run["status"], "ready", "{path}: {run}");
    }
}

/// Each way to start a run decides as the plan before it, about conditions that read the status of the cluster, changes and
/// inputs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_way_to_start_a_run_decides_as_its_plan() {
    let when = |name: &str, condition: &str| {
        task(name, json!("*"), "true", json!({"condition": {"yaql_exp": condition}}))
    };
    let inputs = json!({"version": "3.0.0", "parameters": {
        "cmd": {"yaql_exp": "switch($.settings.common.debug.value => verbose, true => quiet)"},
        "retries": 0, "timeout": 30,
    }});
    let site = Site::new(&json!([
        when("status", "$.cluster.status in [operational, new, partially_deployed]"),
        when("changed", "changed($.settings.common.debug.value)"),
        when("nodes", "changed($.nodes)"),
        task("inputs", json!("*"), "", inputs),
    ]))
    .await;
    let graphs = json!({"name": "s", "release": 1, "graphs": [{"type": "default"}]});
    let sequence = id(&site.server.post("sequences/", &graphs).await.expect(201));
    let cluster = site.cluster;
    let plan = async || {
        let plan = site.server.post(&format!("clusters/{cluster}/plans"), &json!({})).await.expect(201);
        plan["id"].as_i64().unwrap()
    };
    let mut debug = false;
    for (method, path, body) in [
        ("PUT", format!("clusters/{cluster}/changes"), json!({})),
        ("PUT", format!("clusters/{cluster}/deploy"), json!({})),
        ("POST", "graphs/execute/".to_owned(), json!({"cluster": cluster, "graphs": [{"type": "default"}]})),
        ("POST", format!("sequences/{sequence}/execute"), json!({"cluster": cluster})),
        ("POST", "apply".to_owned(), json!({})),
    ] {
        for has_change in [false, true] {
            if has_change {
                debug = !debug;
                site.set_debug(debug).await;
            }
            let planned = site.planned(json!({})).await;
            let path = if path == "apply" { format!("plans/{}/apply", plan().await) } else { path.clone() };
            site.start(method, &path, body.clone()).await;
            assert_eq!(site.executed(), planned, "{path}, {has_change}");
        }
        let on_both = |name: &str| site.nodes.map(|node| format!("{name}@{node}"));
        assert_eq!(site.planned(json!({})).await, on_both("status"), "nothing else is left after {path}");
    }
}

/// A copied file is part of the definition of its task.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn edited_file_runs_its_task_again() {
    let folder = stoker_testkit::TempFolder::new();
    let file = folder.file("motd");
    std::fs::write(&file, "one").unwrap();
    let files = json!({"files": [{"src": file.to_str().unwrap(), "dst": "/etc/motd"}]});
    let site = Site::new(&json!([{
        "id": "copy", "type": "copy_files", "version": "2.1.0", "roles": "*", "parameters": files,
        "condition": {"yaql_exp": "changed($.settings.common.debug.value)"},
    }]))
    .await;
    site.deploy(json!({})).await;
    assert_eq!(site.planned(json!({})).await, Vec::<String>::new());
    std::fs::write(&file, "two").unwrap();
    assert_eq!(site.planned(json!({})).await, site.nodes.map(|node| format!("copy@{node}")));
    site.deploy(json!({})).await;
    assert_eq!(site.planned(json!({})).await, Vec::<String>::new());
}

/// Every warning about a graph is in the response to its upload as far as the layer alone shows it, in the check of the merged
/// graph, and in plans.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn warnings_about_graphs_are_shown_over_rest() {
    let when = |name: &str, roles: Value, condition: &str, cmd: Value| {
        let parameters = json!({"cmd": cmd, "retries": 0, "timeout": 30});
        task(name, roles, "", json!({"condition": {"yaql_exp": condition}, "parameters": parameters}))
    };
    let site = Site::new(&json!([])).await;
    let debug = json!({"yaql_exp": "switch($.debug => verbose, true => quiet)"});
    let tasks = json!([
        when("no-state", json!("*"), "let(x => $.nodes) -> changed($x)", json!("a")),
        when("never-first", json!("*"), "deleted($.nodes)", json!("b")),
        when("bare-word", json!("*"), "$.debug = True", json!("c")),
        when("unobserved", json!("*"), "changed($.cluster.name)", debug),
        when("hidden", json!(["controller", "compute"]), "changed($.cluster.name)", json!("d")),
        when("near-miss", json!("*"), "changed($.confgs.nova)", json!("e")),
        {"id": "replaced", "roles": ["compute"]},
    ]);
    let cluster = site.server.get(&format!("clusters/{}", site.cluster)).await.expect(200);
    let of_release = json!([{
        "id": "replaced", "type": "shell", "version": "2.0.0", "tags": ["controller"],
        "parameters": {"cmd": "true", "retries": 0, "timeout": 30},
    }]);
    let path = format!("releases/{}/deployment_tasks", cluster["release_id"]);
    site.server.put(&path, &of_release).await.expect(200);
    let path = format!("clusters/{}/deployment_graphs/default", site.cluster);
    let codes = |warnings: &Value| -> Vec<(String, String)> {
        let text = |warning: &Value, key: &str| warning[key].as_str().unwrap_or_default().to_owned();
        let pairs = warnings.as_array().unwrap().iter();
        let mut pairs: Vec<_> = pairs.map(|warning| (text(warning, "task"), text(warning, "code"))).collect();
        pairs.sort();
        pairs
    };
    let expected = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(task, code)| ((*task).to_owned(), (*code).to_owned())).collect()
    };
    let of_layer = [
        ("never-first", "graph-never-first"),
        ("no-state", "graph-not-state"),
        ("unobserved", "graph-unobserved-input"),
    ];
    let uploaded = site.server.put(&path, &tasks).await.expect(200);
    let mut warnings = codes(&uploaded["warnings"]);
    warnings.retain(|(task, _)| task != "bare-word" && !task.is_empty());
    assert_eq!(warnings, expected(&of_layer), "{uploaded}");
    assert!(uploaded["warnings"].to_string().contains("`True` is the text"), "{uploaded}");

    let meta = json!({"name": "controller", "meta": {"has_primary": true}});
    site.server.post(&format!("clusters/{}/tags", site.cluster), &meta).await.expect(201);
    let of_merged = [
        ("bare-word", "graph-bare-word"),
        ("never-first", "graph-never-first"),
        ("no-state", "graph-not-state"),
        ("replaced", "graph-replaced-placement"),
        ("unobserved", "graph-unobserved-input"),
    ];
    let check = format!("clusters/{}/deployment_tasks/check", site.cluster);
    assert_eq!(codes(&site.server.get(&check).await.expect(200)), expected(&of_merged));
    let plan = site.server.post(&format!("clusters/{}/plans", site.cluster), &json!({})).await.expect(201);
    let plan = site.server.get(&format!("plans/{}", plan["id"])).await.expect(200);
    let of_plan = [
        ("bare-word", "graph-bare-word"),
        ("hidden", "plan-hidden-by-primary"),
        ("near-miss", "plan-near-miss"),
        ("never-first", "graph-never-first"),
        ("no-state", "graph-not-state"),
        ("replaced", "graph-replaced-placement"),
        ("unobserved", "graph-unobserved-input"),
    ];
    assert_eq!(codes(&plan["warnings"]), expected(&of_plan), "{plan}");
    assert!(plan["warnings"].to_string().contains("did you mean `$.configs`?"), "{plan}");
}
