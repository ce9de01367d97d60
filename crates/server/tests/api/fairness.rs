//! One noisy cluster does not starve another.

use std::time::Duration;

use serde_json::{Value, json};
use stoker_settings::Server;

use crate::beginnings::{cluster_of, id, node};
use crate::runs::{Site, task};

const N_BUSY_NODES: u8 = 40;
const N_BUSY_TASKS: usize = 60;

/// How often anything was written down for a run, by all runs.
async fn n_writes(site: &Site) -> usize {
    let shown = site.server.get("metrics").await.expect(200);
    let mut lines = shown.as_str().unwrap().lines();
    let line = lines.find_map(|line| line.strip_prefix("stoker_run_write_duration_seconds_count "));
    line.map_or(0, |count| count.trim().parse().unwrap())
}

/// Runs the small one: how often something was written down meanwhile. Unlike time, that does not depend on the machine.
async fn writes_of_small(site: &Site) -> usize {
    let before = n_writes(site).await;
    let shown = site.deploy(json!({"force": true})).await;
    assert_eq!(shown["status"], "ready", "{shown}");
    n_writes(site).await - before
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn small_run_is_not_starved_by_large_run() {
    let few: Value =
        (0..3).map(|n| task(&format!("small-{n}"), json!(["controller"]), "true", json!({}))).collect();
    let site = Site::with(&few, Server::default()).await;
    let server = &site.server;
    writes_of_small(&site).await;
    let alone = writes_of_small(&site).await;
    // Thousands of instances that take no time: nothing but deciding, writing and telling.
    let large = cluster_of(server, 1, "large").await;
    let mut roles = Vec::new();
    for number in 0..N_BUSY_NODES {
        roles.push(json!({"id": node(server, 10 + number).await, "roles": ["compute"]}));
    }
    server.post(&format!("clusters/{large}/assignment"), &json!(roles)).await.expect(200);
    let many: Value = (0..N_BUSY_TASKS)
        .map(|n| task(&format!("large-{n}"), json!(["compute"]), "true", json!({})))
        .collect();
    let path = format!("clusters/{large}/deployment_tasks/?graph_type=default");
    server.put(&path, &many).await.expect(200);
    site.deeds.take();
    let body = json!({"cluster": large, "graphs": [{"type": "default"}]});
    let run = id(&server.post("graphs/execute/", &body).await.expect(202));
    site.until(run, |_| site.deeds.all().len() > 100).await;
    let beside = writes_of_small(&site).await;
    let n_done = site.deeds.all().len();
    let n_all = usize::from(N_BUSY_NODES) * N_BUSY_TASKS;
    assert!(n_done < n_all, "the large run was over too soon to prove anything ({n_done} of {n_all})");
    // Its plan, its turns and its look at the end, each beside a few of the large one.
    let most = 15 * alone;
    assert!(beside <= most, "alone {alone} writes, beside a large run {beside}");
    // However long that takes on this machine.
    for _ in 0..600 {
        let shown = server.get(&format!("transactions/{run}")).await.expect(200);
        if shown["status"] != "running" {
            assert_eq!(shown["status"], "ready", "{shown}");
            return;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    panic!("the large run did not end");
}
