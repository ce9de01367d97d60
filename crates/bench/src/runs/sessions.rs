//! Ten thousand agents on one server: each joins, connects, sends hello and stays connected.

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use stoker_engine::session::{FromAgent, Hello, ToAgent};
use stoker_model::JsonMap;
use stoker_wire::join::JoinResponse;

use crate::http::Failure;
use crate::line::{Line, for_each, join, join_body, require_sockets};
use crate::row::{Limit, Row};
use crate::server::{Api as _, Process};

const N_AGENTS: usize = 10_000;
/// Time that connections stay open: long enough for a heartbeat of each agent.
const STAY: Duration = Duration::from_secs(15);
const HEARTBEAT: Duration = Duration::from_secs(10);
const MEMORY_MIB_MAX: f64 = 1024.0;
const CONNECT_SECONDS_MAX: f64 = 30.0;

pub(super) async fn measure(program: &Path) -> Result<Vec<Row>, Box<dyn Error>> {
    require_sockets(N_AGENTS)?;
    let server = Process::start(program).await?;
    let remote = server.log_in().await?;
    let token = remote.json("POST", "/api/v1/join_tokens", Some(&json!({}))).await?["token"].clone();
    let before = server.resident_mib()?;
    let token = token.as_str().unwrap_or_default();
    let members =
        for_each(0..N_AGENTS, |number| join(server.address.clone(), join_body(token, number))).await?;
    let since = Instant::now();
    let lines = for_each(members, |member| connect(server.address.clone(), member)).await?;
    let connecting = since.elapsed().as_secs_f64();
    let mut staying = tokio::task::JoinSet::new();
    for line in lines {
        staying.spawn(stay(line));
    }
    let mut peak: f64 = 0.0;
    while !staying.is_empty() {
        peak = peak.max(server.resident_mib()?);
        let ended = tokio::time::timeout(Duration::from_secs(1), staying.join_next()).await;
        if let Ok(Some(ended)) = ended {
            ended?.map_err(|error| error.to_string())?;
        }
    }
    Ok(vec![
        Row::new("memory of an idle server", before, "MiB", Limit::AtMost(128.0)),
        Row::new(
            format!("the same with {N_AGENTS} agents connected"),
            peak,
            "MiB",
            Limit::AtMost(MEMORY_MIB_MAX),
        ),
        Row::new(
            format!("until {N_AGENTS} agents have reconnected"),
            connecting,
            "s",
            Limit::AtMost(CONNECT_SECONDS_MAX),
        ),
    ])
}

async fn connect(address: String, member: JoinResponse) -> Result<Line, Failure> {
    let mut line = Line::connect(&address, &member.credential).await?;
    let hello = FromAgent::Hello(Hello {
        node: member.node_uid,
        version: "bench".to_owned(),
        running: Vec::new(),
        finished: Vec::new(),
        runs: Vec::new(),
        facts: JsonMap::new(),
        journal_id: None,
    });
    line.send(&hello).await?;
    match line.receive().await? {
        ToAgent::Welcome { .. } => Ok(line),
        other => Err(format!("expected a welcome from the server, got {other:?}").into()),
    }
}

/// Stays connected for a while and sends heartbeats.
async fn stay(mut line: Line) -> Result<(), Failure> {
    let until = Instant::now() + STAY;
    while Instant::now() < until {
        match tokio::time::timeout(HEARTBEAT, line.receive()).await {
            Err(_) => line.send(&FromAgent::Heartbeat).await?,
            Ok(message) => drop(message?),
        }
    }
    Ok(())
}
