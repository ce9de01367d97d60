//! Instances a second, from the beginning of a run to its end.

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use stoker_model::Json;
use stoker_settings::{Runs, Server};

use super::{ansible, memory, wait_for_end, wait_for_plan};
use crate::agent::plain_rate;
use crate::line::mac;
use crate::row::{Limit, Row};
use crate::server::{Api, InProcess, Process};

const N_NODES: usize = 200;
const N_TASKS: usize = 100;
/// With real agents: enough for a few seconds.
const N_REAL_NODES: usize = 64;
const N_REAL_TASKS: usize = 60;
const INSTANCES_MIN: f64 = 5000.0;

pub(super) async fn measure(program: &Path, playbook: Option<&Path>) -> Result<Vec<Row>, Box<dyn Error>> {
    let runs = Runs { local_agents: true, ..Runs::default() };
    let server = InProcess::with(Server { runs, ..Server::default() }).await?;
    server.app.set_agent_spawner(memory::spawner(Duration::ZERO));
    server.app.begin_runs();
    let in_memory = rate(&server, N_NODES, N_TASKS).await?;
    let plain = tokio::task::spawn_blocking(|| plain_rate().map_err(|error| error.to_string())).await??;
    let process = Process::with(program, &["--local-agents"]).await?;
    let real = rate(&process.log_in().await?, N_REAL_NODES, N_REAL_TASKS).await?;
    let row = |what: String, rate: f64, least: f64| Row::new(what, rate, "a second", Limit::AtLeast(least));
    let mut rows = vec![
        row(
            format!("instances of {N_NODES} nodes that do nothing, all that happens in the database"),
            in_memory,
            INSTANCES_MIN,
        ),
        row("programs started by the machine itself".to_owned(), plain, 1.0),
        row(
            format!("the same as tasks of a run with {N_REAL_NODES} real agents, at least half"),
            real,
            (plain / 2.0).floor(),
        ),
    ];
    if let Some(playbook) = playbook {
        rows.extend(ansible::measure(playbook, real)?);
    }
    Ok(rows)
}

/// Runs every task on every node: instances a second.
async fn rate(server: &impl Api, n_nodes: usize, n_tasks: usize) -> Result<f64, Box<dyn Error>> {
    let cluster = make_cluster(server, n_nodes, n_tasks).await?;
    let body = json!({"cluster": cluster, "graphs": [{"type": "default"}], "nodes_at_once": n_nodes});
    let run = server.create("/api/v1/graphs/execute", &body).await?;
    wait_for_plan(server, run).await?;
    let since = Instant::now();
    wait_for_end(server, run).await?;
    Ok((n_nodes * n_tasks) as f64 / since.elapsed().as_secs_f64())
}

async fn make_cluster(server: &impl Api, n_nodes: usize, n_tasks: usize) -> Result<i64, Box<dyn Error>> {
    let release = json!({
        "name": "bench", "version": "mitaka-10.0", "operating_system": "Ubuntu", "state": "available",
        "roles_metadata": {"worker": {"name": "Worker"}},
    });
    let release = server.create("/api/v1/releases", &release).await?;
    let cluster = server.create("/api/v1/clusters", &json!({"name": "bench", "release_id": release})).await?;
    let mut assigned = Vec::new();
    for number in 0..n_nodes {
        let body = json!({"mac": mac(number), "status": "discover"});
        assigned.push(json!({"id": server.create("/api/v1/nodes", &body).await?, "roles": ["worker"]}));
    }
    let path = format!("/api/v1/clusters/{cluster}/assignment");
    server.call("POST", &path, Some(&json!(assigned))).await?;
    let task = |number: usize| {
        json!({"id": format!("task-{number}"), "type": "shell", "version": "2.1.0", "roles": "*",
               "parameters": {"cmd": "/bin/true", "timeout": 60}})
    };
    let tasks: Vec<Json> = (0..n_tasks).map(task).collect();
    let path = format!("/api/v1/clusters/{cluster}/deployment_tasks?graph_type=default");
    server.call("PUT", &path, Some(&json!(tasks))).await?;
    Ok(cluster)
}
