//! Instances per second, from the start of a run to its end.

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use serde_json::json;
use stoker_model::Json;
use stoker_settings::{Runs, Server};

use super::{ansible, memory, wait_for_end};
use crate::agent::plain_rate;
use crate::line::mac;
use crate::row::{Limit, Row};
use crate::server::{Api, InProcess, Process};

const N_NODES: usize = 200;
const N_TASKS: usize = 100;
/// Number of nodes with real agents: enough for a few seconds of work.
const N_REAL_NODES: usize = 64;
const N_REAL_TASKS: usize = 60;
/// Number of rounds, which alternate direct starts and a run, because the speed of a shared machine varies.
const N_ROUNDS: usize = 5;
const INSTANCES_MIN: f64 = 5000.0;

pub(super) async fn measure(program: &Path, playbook: Option<&Path>) -> Result<Vec<Row>, Box<dyn Error>> {
    let runs = Runs { local_agents: true, ..Runs::default() };
    let server = InProcess::with(Server { runs, ..Server::default() }).await?;
    server.app.set_agent_spawner(memory::spawner(Duration::ZERO));
    server.app.start_background();
    let cluster = make_cluster(&server, N_NODES, N_TASKS).await?;
    let in_memory = rate(&server, cluster, N_NODES, N_TASKS).await?;
    let (plain, real) = compare_with_direct_starts(program).await?;
    let row =
        |what: String, rate: f64, minimum: f64| Row::new(what, rate, "a second", Limit::AtLeast(minimum));
    let mut rows = vec![
        row(
            format!("no-op instances on {N_NODES} nodes with all events in the database"),
            in_memory,
            INSTANCES_MIN,
        ),
        row("processes started directly".to_owned(), plain, 1.0),
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

/// Processes per second started directly, and by real agents as tasks: medians of several rounds.
async fn compare_with_direct_starts(program: &Path) -> Result<(f64, f64), Box<dyn Error>> {
    let process = Process::with(program, &["--local-agents"]).await?;
    let server = process.log_in().await?;
    let cluster = make_cluster(&server, N_REAL_NODES, N_REAL_TASKS).await?;
    let (mut plain, mut real) = (Vec::new(), Vec::new());
    for _ in 0..N_ROUNDS {
        let by_itself = || plain_rate().map_err(|error| error.to_string());
        plain.push(tokio::task::spawn_blocking(by_itself).await??);
        real.push(rate(&server, cluster, N_REAL_NODES, N_REAL_TASKS).await?);
    }
    eprintln!("direct {plain:.0?}, as tasks {real:.0?}");
    Ok((median(plain), median(real)))
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

/// Executes every task on every node. Returns instances per second.
async fn rate(
    server: &impl Api,
    cluster: i64,
    n_nodes: usize,
    n_tasks: usize,
) -> Result<f64, Box<dyn Error>> {
    let body = json!({
        "cluster": cluster, "graphs": [{"type": "default"}], "nodes_at_once": n_nodes, "force": true,
    });
    let run = server.create("/api/v1/graphs/execute", &body).await?;
    let duration = wait_for_end(server, run).await?;
    Ok((n_nodes * n_tasks) as f64 / duration.as_secs_f64())
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
