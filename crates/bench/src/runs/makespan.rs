//! How long a run lasts beside what no order could do faster: the real graph on the real kinds of nodes, with a real
//! engine and its database, and with tasks that sleep.

use std::collections::BTreeMap;
use std::error::Error;
use std::time::Duration;

use serde_json::json;
use stoker_engine::blueprint::{Blueprint, Options, of_plan};
use stoker_model::PlanId;
use stoker_planner::{Plan, decode};
use stoker_settings::{Runs, Server};

use super::{memory, wait_for_end};
use crate::line::mac;
use crate::real::{N_KINDS, Real};
use crate::row::{Limit, Row};
use crate::server::{Api as _, InProcess};

/// Long beside what a server takes to decide, as real tasks are.
const LASTING: Duration = Duration::from_millis(200);
const RATIO_MAX: f64 = 1.05;

/// Nothing where there is no real graph.
pub(super) async fn measure() -> Result<Option<Row>, Box<dyn Error>> {
    let Ok(real) = Real::read() else { return Ok(None) };
    let runs = Runs { local_agents: true, ..Runs::default() };
    let server = InProcess::with(Server { runs, ..Server::default() }).await?;
    server.app.set_agent_spawner(memory::spawner(LASTING));
    server.app.begin_runs();
    for number in 0..N_KINDS {
        let body = json!({"mac": mac(number), "status": "discover"});
        server.create("/api/v1/nodes", &body).await?;
    }
    let file = tempfile::NamedTempFile::new()?;
    let cluster = real.make(&server, N_KINDS, file.path()).await?;
    let body = json!({"cluster": cluster, "graphs": [{"type": "default"}]});
    let run = server.create("/api/v1/graphs/execute", &body).await?;
    let lasted = wait_for_end(&server, run).await?;
    let bytes = server.app.store.read().await?.plan_document(PlanId(1)).await?.ok_or("no plan")?;
    let rounds = lower_bound(&decode(&bytes)?.plan)?;
    Ok(Some(Row::new(
        format!("the real graph with tasks of {} ms beside {rounds} of them in a row", LASTING.as_millis()),
        lasted.as_secs_f64() / (LASTING * rounds).as_secs_f64(),
        "x",
        Limit::AtMost(RATIO_MAX),
    )))
}

/// No order can take fewer tasks one after the other: the longest chain, and what one agent has to do.
fn lower_bound(plan: &Plan) -> Result<u32, Box<dyn Error>> {
    let blueprint: Blueprint = of_plan(plan, Options::default(), &[], stoker_tasks::timing_of)
        .map_err(|defects| format!("{defects:?}"))?;
    let order = plan.order();
    let sorted = order.topological_order().ok_or("the plan has a cycle")?;
    let mut longest = vec![0; order.n_vertices()];
    let mut of_agent: BTreeMap<u32, u32> = BTreeMap::new();
    for vertex in sorted.into_iter().rev() {
        let after = order.targets(vertex).iter().map(|target| longest[*target as usize]).max();
        let executor = (vertex < plan.n_instances() as u32).then(|| blueprint.executor_of(vertex)).flatten();
        longest[vertex as usize] = u32::from(executor.is_some()) + after.unwrap_or(0);
        if let Some(executor) = executor {
            *of_agent.entry(executor).or_default() += 1;
        }
    }
    Ok(longest.into_iter().chain(of_agent.into_values()).max().unwrap_or(0))
}
