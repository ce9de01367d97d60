//! Cost of reading a merged graph and of changing one of its tasks.

use std::error::Error;
use std::time::{Duration, Instant};

use serde_json::json;
use stoker_model::Json;

use crate::graph;
use crate::row::{Limit, Row};
use crate::server::{Api as _, InProcess};

const N_READS: usize = 40;
/// Factor by which the number of tasks grows.
const GROWTH: usize = 10;

pub(crate) async fn measure() -> Result<Vec<Row>, Box<dyn Error>> {
    let server = InProcess::start().await?;
    let real = graph::tasks();
    let n_tasks = real.len();
    let cluster = cluster_with(&server, "real", &real, &graph::many("extra", n_tasks)).await?;
    let read = merged_read(&server, cluster).await?;

    let (mut times, mut n_bytes) = (Vec::new(), Vec::new());
    for (name, factor) in [("small", 1), ("large", GROWTH)] {
        let (release, plugin) = (graph::many("r", 204 * factor), graph::many("p", 204 * factor));
        let cluster = cluster_with(&server, name, &release, &plugin).await?;
        let (time, size) = merged_read(&server, cluster).await?;
        times.push(time);
        n_bytes.push(size);
    }
    let growth = times[1].as_secs_f64() / times[0].as_secs_f64();
    Ok(vec![
        Row::new(
            format!("merged read of {n_tasks} + {n_tasks} tasks, {} kB, in process", read.1 / 1000),
            millis(read.0),
            "ms",
            Limit::AtMost(5.0),
        ),
        Row::new(
            format!("time of a merged read of {GROWTH} times the tasks"),
            growth,
            "x",
            Limit::AtMost(11.0),
        ),
        Row::new(
            "update of one task in 204, rows written",
            rows_written(&server, &real).await?,
            "",
            Limit::AtMost(1.0),
        ),
    ])
}

/// Returns a cluster with tasks in its release and in one plugin.
async fn cluster_with(
    server: &InProcess,
    name: &str,
    release_tasks: &[Json],
    plugin_tasks: &[Json],
) -> Result<i64, Box<dyn Error>> {
    let release = json!({
        "name": name, "version": "mitaka-10.0", "operating_system": "Ubuntu", "state": "available",
        "deployment_tasks": release_tasks,
    });
    let release = server.create("/api/v1/releases", &release).await?;
    let plugin = json!({
        "name": format!("plugin-{name}"), "title": name, "version": "1.0.0", "package_version": "4.0.0",
        "fuel_version": ["10.0"], "releases": [{"os": "ubuntu", "version": "mitaka-10.0", "mode": ["ha"]}],
        "deployment_tasks": plugin_tasks,
    });
    let plugin_id = server.create("/api/v1/plugins", &plugin).await?;
    let cluster = server.create("/api/v1/clusters", &json!({"name": name, "release_id": release})).await?;
    let enable = json!({"editable": {format!("plugin-{name}"): {
        "metadata": {"class": "plugin", "enabled": true, "chosen_id": plugin_id},
    }}});
    server.call("PUT", &format!("/api/v1/clusters/{cluster}/attributes"), Some(&enable)).await?;
    Ok(cluster)
}

/// Returns the minimum time of several reads, and the response size.
async fn merged_read(server: &InProcess, cluster: i64) -> Result<(Duration, usize), Box<dyn Error>> {
    let path = format!("/api/v1/clusters/{cluster}/deployment_tasks");
    let mut best = (Duration::MAX, 0);
    for _ in 0..N_READS {
        let started = Instant::now();
        let n_bytes = server.read(&path).await?;
        best = (best.0.min(started.elapsed()), n_bytes);
    }
    Ok(best)
}

/// Changes one task of a graph and counts the rows that changed.
async fn rows_written(server: &InProcess, tasks: &[Json]) -> Result<f64, Box<dyn Error>> {
    let release = json!({"name": "rows", "version": "1", "operating_system": "Ubuntu"});
    let release = server.create("/api/v1/releases", &release).await?;
    let path = format!("/api/v1/releases/{release}/deployment_graphs/rows");
    let answer = server.call("POST", &path, Some(&json!({"tasks": tasks}))).await?;
    let id = serde_json::from_slice::<Json>(&answer)?["id"].clone();
    let rows_path = format!("/api/v1/graphs/{id}/tasks");
    let before = row_ids(server, &rows_path).await?;
    let mut changed = tasks.to_vec();
    changed[100]["parameters"] = json!({"timeout": 1});
    server.call("PUT", &path, Some(&json!({"tasks": changed}))).await?;
    let after = row_ids(server, &rows_path).await?;
    Ok(after.iter().filter(|id| !before.contains(id)).count() as f64)
}

async fn row_ids(server: &InProcess, path: &str) -> Result<Vec<Json>, Box<dyn Error>> {
    let answer = server.call("GET", path, None).await?;
    let rows: Vec<Json> = serde_json::from_slice(&answer)?;
    Ok(rows.into_iter().map(|mut row| row["db_id"].take()).collect())
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
