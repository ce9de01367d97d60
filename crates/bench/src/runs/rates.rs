//! Instances a second, from the beginning of a run to its end.

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
/// With real agents: enough for a few seconds.
const N_REAL_NODES: usize = 64;
const N_REAL_TASKS: usize = 60;
/// Turns of the machine itself and of a run, one after the other: a machine that others share is not always equally fast.
const N_TURNS: usize = 5;
const INSTANCES_MIN: f64 = 5000.0;

pub(super) async fn measure(program: &Path, playbook: Option<&Path>) -> Result<Vec<Row>, Box<dyn Error>> {
    let runs = Runs { local_agents: true, ..Runs::default() };
    let server = InProcess::with(Server { runs, ..Server::default() }).await?;
    server.app.set_agent_spawner(memory::spawner(Duration::ZERO));
    server.app.begin_runs();
    let cluster = make_cluster(&server, N_NODES, N_TASKS).await?;
    let in_memory = rate(&server, cluster, N_NODES, N_TASKS).await?;
    let (plain, real) = beside_the_machine(program).await?;
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

/// Programs a second that the machine starts by itself, and that real agents start as tasks: the middle of several turns.
async fn beside_the_machine(program: &Path) -> Result<(f64, f64), Box<dyn Error>> {
    let process = Process::with(program, &["--local-agents"]).await?;
    let server = process.log_in().await?;
    let cluster = make_cluster(&server, N_REAL_NODES, N_REAL_TASKS).await?;
    let (mut plain, mut real) = (Vec::new(), Vec::new());
    for _ in 0..N_TURNS {
        let by_itself = || plain_rate().map_err(|error| error.to_string());
        plain.push(tokio::task::spawn_blocking(by_itself).await??);
        real.push(rate(&server, cluster, N_REAL_NODES, N_REAL_TASKS).await?);
    }
    eprintln!("by the machine {plain:.0?}, as tasks {real:.0?}");
    Ok((middle(plain), middle(real)))
}

fn middle(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

/// Runs every task on every node: instances a second.
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
    let lasted = wait_for_end(server, run).await?;
    Ok((n_nodes * n_tasks) as f64 / lasted.as_secs_f64())
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
