//! Makespan of a run compared with its lower bound: the real graph on the real node roles, with the real
//! engine and database, and with tasks that sleep.

use std::collections::BTreeMap;
use std::error::Error;
use std::time::Duration;

use serde_json::json;
use stoker_engine::blueprint::{Blueprint, ExecutionOptions};
use stoker_model::{NodeIdx, PlanId, VertexIdx};
use stoker_orchestrator::runs::blueprint_of_plan;
use stoker_planner::{Plan, decode};
use stoker_settings::{Runs, Server};

use super::{memory, wait_for_end};
use crate::line::mac;
use crate::real::{N_KINDS, Real};
use crate::row::{Limit, Row};
use crate::server::{Api as _, InProcess};

/// Task duration: long compared with scheduling latency, as for real tasks.
const TASK_DURATION: Duration = Duration::from_millis(200);
const RATIO_MAX: f64 = 1.05;

/// Returns `None` if the real graph is not available.
pub(super) async fn measure() -> Result<Option<Row>, Box<dyn Error>> {
    let Ok(real) = Real::read() else { return Ok(None) };
    let runs = Runs { local_agents: true, ..Runs::default() };
    let server = InProcess::with(Server { runs, ..Server::default() }).await?;
    server.app.set_agent_spawner(memory::spawner(TASK_DURATION));
    server.app.start_background();
    for number in 0..N_KINDS {
        let body = json!({"mac": mac(number), "status": "discover"});
        server.create("/api/v1/nodes", &body).await?;
    }
    let file = tempfile::NamedTempFile::new()?;
    let cluster = real.make(&server, N_KINDS, file.path()).await?;
    let body = json!({"cluster": cluster, "graphs": [{"type": "default"}]});
    let run = server.create("/api/v1/graphs/execute", &body).await?;
    let makespan = wait_for_end(&server, run).await?;
    let bytes = server.app.store.read().await?.plan_document(PlanId(1)).await?.ok_or("no plan")?;
    let rounds = lower_bound(&decode(&bytes)?.plan)?;
    Ok(Some(Row::new(
        format!(
            "makespan of the real graph with tasks of {} ms compared with {rounds} sequential tasks",
            TASK_DURATION.as_millis()
        ),
        makespan.as_secs_f64() / (TASK_DURATION * rounds).as_secs_f64(),
        "x",
        Limit::AtMost(RATIO_MAX),
    )))
}

/// Returns the minimum number of sequential tasks of any schedule: the critical path and the work of the
/// busiest agent.
fn lower_bound(plan: &Plan) -> Result<u32, Box<dyn Error>> {
    let blueprint: Blueprint =
        blueprint_of_plan(plan, ExecutionOptions::default(), &[], stoker_tasks::default_timing)
            .map_err(|defects| format!("{defects:?}"))?;
    let order = plan.order();
    let sorted = order.topological_order().ok_or("the plan has a cycle")?;
    let mut longest = vec![0; order.n_vertices()];
    let mut of_agent: BTreeMap<NodeIdx, u32> = BTreeMap::new();
    for vertex in sorted.into_iter().rev() {
        let after = order.targets(vertex).iter().map(|target| longest[*target as usize]).max();
        let executor =
            VertexIdx::new(vertex).instance(plan.n_instances()).and_then(|idx| blueprint.executor_of(idx));
        longest[vertex as usize] = u32::from(executor.is_some()) + after.unwrap_or(0);
        if let Some(executor) = executor {
            *of_agent.entry(executor).or_default() += 1;
        }
    }
    Ok(longest.into_iter().chain(of_agent.into_values()).max().unwrap_or(0))
}
