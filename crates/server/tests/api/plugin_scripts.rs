//! Plugin scripts are copied only to nodes that need them and only when they changed.

use std::fs;

use serde_json::{Value, json};
use stoker_registry::package::PackageVersion;

use crate::beginnings::create_node;
use crate::fixtures::set_plugin_enabled;
use crate::packages::{PluginSource, plugins_root, upload};
use crate::runs::Site;

/// Returns a cluster with an enabled plugin and one node that has its role.
async fn create_site() -> Site {
    let site = Site::new(&json!([])).await;
    let source = PluginSource::new("gridnet", PackageVersion::V5);
    upload(&site.server, source.archive()).await.expect(201);
    set_plugin_enabled(&site.server, site.cluster, true).await;
    assign(&site, site.nodes[0]).await;
    site
}

async fn assign(site: &Site, node: i64) {
    let path = format!("clusters/{}/assignment", site.cluster);
    site.server.post(&path, &json!([{"id": node, "roles": ["gridnet"]}])).await.expect(200);
}

/// Deploys and returns the nodes to which scripts were copied.
async fn deploy_and_list_copies(site: &Site, extra: Value) -> Vec<String> {
    let run = site.deploy(extra).await;
    assert_eq!(run["status"], "ready", "{run}");
    let attempts = site.attempts.take();
    let nodes =
        attempts.iter().filter_map(|attempt| attempt.strip_prefix("gridnet-scripts@").map(str::to_owned));
    nodes.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scripts_are_copied_after_change_or_to_new_nodes() {
    let site = create_site().await;
    let first = site.nodes[0].to_string();
    assert_eq!(deploy_and_list_copies(&site, json!({})).await, std::slice::from_ref(&first));
    assert_eq!(
        deploy_and_list_copies(&site, json!({})).await,
        Vec::<String>::new(),
        "the scripts are current"
    );
    let script = plugins_root(&site.server).join("gridnet-1.0/deployment_scripts/deploy.sh");
    fs::write(&script, "#!/bin/sh\necho another\n").unwrap();
    assert_eq!(deploy_and_list_copies(&site, json!({})).await, std::slice::from_ref(&first));
    let third = create_node(&site.server, 3).await;
    assign(&site, third).await;
    assert_eq!(deploy_and_list_copies(&site, json!({})).await, [third.to_string()]);
    let mut both = vec![first, third.to_string()];
    both.sort();
    let mut forced = deploy_and_list_copies(&site, json!({"force": true})).await;
    forced.sort();
    assert_eq!(forced, both, "`force` ignores previous successes");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn selected_tasks_include_the_scripts_they_need() {
    let site = create_site().await;
    let only_task = |task: &str| json!({"graphs": [{"type": "default", "tasks": [task]}]});
    let node = site.nodes[0].to_string();
    assert_eq!(deploy_and_list_copies(&site, only_task("gridnet-deploy")).await, [node]);
    assert_eq!(deploy_and_list_copies(&site, only_task("gridnet-deploy")).await, Vec::<String>::new());
    let path = format!("clusters/{}/deployment_tasks/?graph_type=default", site.cluster);
    let tasks = json!([crate::runs::task("own", json!(["compute"]), "true", json!({}))]);
    site.server.put(&path, &tasks).await.expect(200);
    fs::write(plugins_root(&site.server).join("gridnet-1.0/deployment_scripts/more"), "x").unwrap();
    assert_eq!(
        deploy_and_list_copies(&site, only_task("own")).await,
        Vec::<String>::new(),
        "the task does not belong to the plugin"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plugin_without_scripts_runs_in_the_default_directory() {
    let site = Site::new(&json!([])).await;
    let empty = PluginSource::new("gridnet", PackageVersion::V5);
    empty.remove("deployment_scripts/deploy.sh");
    empty.write("deployment_scripts/.keep", "");
    upload(&site.server, empty.archive()).await.expect(201);
    set_plugin_enabled(&site.server, site.cluster, true).await;
    let commands = json!([
        {"id": "run", "type": "shell", "role": "*", "parameters": {"cmd": "true"}},
        {"id": "file", "type": "upload_file", "role": "*", "parameters": {"path": "/tmp/x", "data": "y"}},
    ]);
    site.server.put("plugins/1/deployment_graphs/default", &json!({"tasks": commands})).await.expect(200);
    let path = format!("clusters/{}/deployment_tasks", site.cluster);
    let cwd = async || {
        let merged = site.server.get(&path).await.expect(200);
        let findings = site.server.get(&format!("{path}/check")).await.expect(200);
        assert!(!findings.to_string().contains("cwd"), "{findings}");
        let tasks = merged.as_array().unwrap().iter();
        let cwd: Vec<Value> = tasks
            .filter(|task| ["run", "file"].contains(&task["id"].as_str().unwrap()))
            .map(|task| task["parameters"]["cwd"].clone())
            .collect();
        cwd
    };
    assert_eq!(cwd().await, [Value::Null, Value::Null]);
    // A plugin that copies its scripts itself runs in their directory.
    let copy = json!({"id": "copy", "type": "sync", "role": "*", "parameters": {"src": "/x", "dst": "/etc/fuel/plugins/gridnet-1.0.0"}});
    let with_copy = json!({"tasks": [commands[0], commands[1], copy]});
    site.server.put("plugins/1/deployment_graphs/default", &with_copy).await.expect(200);
    assert_eq!(cwd().await, [json!("/etc/fuel/plugins/gridnet-1.0.0/"), Value::Null]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scripts_are_copied_to_nodes_of_overridden_tasks() {
    let site = Site::new(&json!([])).await;
    let release = json!([
        crate::runs::task("base", json!(["compute"]), "./core.sh", json!({})),
        {"id": "all", "type": "group", "roles": ["controller"], "tasks": ["listed"]},
        {"id": "listed", "type": "shell", "parameters": {"cmd": "true"}},
    ]);
    site.server.put("releases/1/deployment_tasks", &release).await.expect(200);
    let source = PluginSource::new("gridnet", PackageVersion::V5);
    source.write("deployment_tasks.yaml", "- {id: base, parameters: {cmd: ./deploy.sh, timeout: 5}}\n");
    upload(&site.server, source.archive()).await.expect(201);
    set_plugin_enabled(&site.server, site.cluster, true).await;
    let merged = async |id: &str| {
        let merged =
            site.server.get(&format!("clusters/{}/deployment_tasks", site.cluster)).await.expect(200);
        merged.as_array().unwrap().iter().find(|task| task["id"] == id).unwrap().clone()
    };
    let base = merged("base").await;
    assert_eq!(
        (&base["type"], &base["parameters"]["cwd"]),
        (&json!("shell"), &json!("/etc/fuel/plugins/gridnet-1.0.0/"))
    );
    let scripts = merged("gridnet-scripts").await;
    assert_eq!((&scripts["roles"], &scripts["required_for"]), (&json!(["compute"]), &json!(["base"])));
    assert_eq!(deploy_and_list_copies(&site, json!({})).await, [site.nodes[1].to_string()]);

    let tasks = json!({"tasks": [{"id": "listed", "parameters": {"cmd": "./deploy.sh"}}]});
    site.server.put("plugins/1/deployment_graphs/default", &tasks).await.expect(200);
    let roles = merged("gridnet-scripts").await["roles"].clone();
    assert_eq!(roles, json!(["controller"]), "a group of the release places the task");
    // An override that repeats the type places the task no more than one without it.
    let typed = json!({"tasks": [{"id": "base", "type": "shell", "parameters": {"cmd": "./deploy.sh", "timeout": 5}}]});
    site.server.put("plugins/1/deployment_graphs/default", &typed).await.expect(200);
    assert_eq!(merged("base").await["parameters"]["cwd"], "/etc/fuel/plugins/gridnet-1.0.0/");
    assert_eq!(merged("gridnet-scripts").await["roles"], json!(["compute"]));
    let order = json!({"tasks": [{"id": "listed", "requires": ["base"]}]});
    site.server.put("plugins/1/deployment_graphs/default", &order).await.expect(200);
    let merged = site.server.get(&format!("clusters/{}/deployment_tasks", site.cluster)).await.expect(200);
    assert!(
        !merged.to_string().contains("gridnet-scripts"),
        "an override of the order runs no script: {merged}"
    );
}
