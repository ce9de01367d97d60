//! A large run does not starve runs of other clusters.

use std::time::Duration;

use serde_json::{Value, json};
use stoker_settings::Server;

use crate::beginnings::{create_cluster_of, create_node, id};
use crate::runs::{Site, task};

const N_BUSY_NODES: u8 = 40;
const N_BUSY_TASKS: usize = 60;

/// Returns the number of store writes of all runs.
async fn count_writes(site: &Site) -> usize {
    let metrics = site.server.get("metrics").await.expect(200);
    let mut lines = metrics.as_str().unwrap().lines();
    let line = lines.find_map(|line| line.strip_prefix("stoker_run_write_duration_seconds_count "));
    line.map_or(0, |count| count.trim().parse().unwrap())
}

/// Runs the small graph and returns the number of store writes of all runs meanwhile. Unlike elapsed time,
/// the count does not depend on the speed of the machine.
async fn count_writes_of_small_run(site: &Site) -> usize {
    let before = count_writes(site).await;
    let run = site.deploy(json!({"force": true})).await;
    assert_eq!(run["status"], "ready", "{run}");
    count_writes(site).await - before
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn small_run_is_not_starved_by_large_run() {
    let few: Value =
        (0..3).map(|n| task(&format!("small-{n}"), json!(["controller"]), "true", json!({}))).collect();
    let site = Site::with_settings(&few, Server::default()).await;
    let server = &site.server;
    count_writes_of_small_run(&site).await;
    let alone = count_writes_of_small_run(&site).await;
    // Thousands of instances that finish immediately keep the scheduler and the store busy.
    let large = create_cluster_of(server, 1, "large").await;
    let mut roles = Vec::new();
    for number in 0..N_BUSY_NODES {
        roles.push(json!({"id": create_node(server, 10 + number).await, "roles": ["compute"]}));
    }
    server.post(&format!("clusters/{large}/assignment"), &json!(roles)).await.expect(200);
    let many: Value = (0..N_BUSY_TASKS)
        .map(|n| task(&format!("large-{n}"), json!(["compute"]), "true", json!({})))
        .collect();
    let path = format!("clusters/{large}/deployment_tasks/?graph_type=default");
    server.put(&path, &many).await.expect(200);
    site.attempts.take();
    let body = json!({"cluster": large, "graphs": [{"type": "default"}]});
    let run = id(&server.post("graphs/execute/", &body).await.expect(202));
    site.wait_until(run, |_| site.attempts.entries().len() > 100).await;
    let beside = count_writes_of_small_run(&site).await;
    let n_attempts = site.attempts.entries().len();
    let n_instances = usize::from(N_BUSY_NODES) * N_BUSY_TASKS;
    assert!(
        n_attempts < n_instances,
        "the large run ended too early for the comparison ({n_attempts} of {n_instances} attempts)"
    );
    // Each step of the small run (plan, batches, final write) may wait for a few batches of the large one.
    let max_writes = 15 * alone;
    assert!(beside <= max_writes, "{alone} writes alone, {beside} writes beside a large run");
    // The large run may take up to two minutes on a slow machine.
    for _ in 0..600 {
        let run_state = server.get(&format!("transactions/{run}")).await.expect(200);
        if run_state["status"] != "running" {
            assert_eq!(run_state["status"], "ready", "{run_state}");
            return;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    panic!("the large run did not end");
}
