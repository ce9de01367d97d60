//! Scripts of plugins are copied to nodes when they are needed there, and only then.

use std::fs;

use serde_json::{Value, json};
use stoker_registry::package::PackageVersion;

use crate::beginnings::node;
use crate::fixtures::set_enabled;
use crate::packages::{Source, root, upload};
use crate::runs::Site;

/// A cluster with a plugin and one node of its role.
async fn site() -> Site {
    let site = Site::new(&json!([])).await;
    let source = Source::new("gridnet", PackageVersion::V5);
    // The release of these tests.
    upload(&site.server, source.archive()).await.expect(201);
    set_enabled(&site.server, site.cluster, true).await;
    assign(&site, site.nodes[0]).await;
    site
}

async fn assign(site: &Site, node: i64) {
    let path = format!("clusters/{}/assignment", site.cluster);
    site.server.post(&path, &json!([{"id": node, "roles": ["gridnet"]}])).await.expect(200);
}

/// On which nodes scripts were copied.
async fn copied(site: &Site, extra: Value) -> Vec<String> {
    let run = site.deploy(extra).await;
    assert_eq!(run["status"], "ready", "{run}");
    let deeds = site.deeds.take();
    let nodes = deeds.iter().filter_map(|deed| deed.strip_prefix("gridnet-scripts@").map(str::to_owned));
    nodes.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scripts_are_copied_after_change_or_to_new_nodes() {
    let site = site().await;
    let first = site.nodes[0].to_string();
    assert_eq!(copied(&site, json!({})).await, std::slice::from_ref(&first));
    assert_eq!(copied(&site, json!({})).await, Vec::<String>::new(), "they are there");
    let script = root(&site.server).join("gridnet-1.0/deployment_scripts/deploy.sh");
    fs::write(&script, "#!/bin/sh\necho another\n").unwrap();
    assert_eq!(copied(&site, json!({})).await, std::slice::from_ref(&first));
    let third = node(&site.server, 3).await;
    assign(&site, third).await;
    assert_eq!(copied(&site, json!({})).await, [third.to_string()]);
    let mut both = vec![first, third.to_string()];
    both.sort();
    let mut forced = copied(&site, json!({"force": true})).await;
    forced.sort();
    assert_eq!(forced, both, "as if nothing had ever succeeded");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn selected_tasks_include_the_scripts_they_need() {
    let site = site().await;
    let some = |task: &str| json!({"graphs": [{"type": "default", "tasks": [task]}]});
    let node = site.nodes[0].to_string();
    assert_eq!(copied(&site, some("gridnet-deploy")).await, [node]);
    assert_eq!(copied(&site, some("gridnet-deploy")).await, Vec::<String>::new());
    let path = format!("clusters/{}/deployment_tasks/?graph_type=default", site.cluster);
    let own = json!([crate::runs::task("own", json!(["compute"]), "true", json!({}))]);
    site.server.put(&path, &own).await.expect(200);
    fs::write(root(&site.server).join("gridnet-1.0/deployment_scripts/more"), "x").unwrap();
    assert_eq!(copied(&site, some("own")).await, Vec::<String>::new(), "it is none of the plugin's");
}
