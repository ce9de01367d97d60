//! Complete runs: throughput of a server with its database, overhead of real agents over starting a process,
//! makespan compared with the lower bound, and the number of agents one server supports.

mod ansible;
mod makespan;
mod memory;
mod rates;
mod sessions;

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use jiff::civil::DateTime;
use stoker_model::Json;

use crate::row::Row;
use crate::server::Api;

/// Poll interval of the run status; polling more often would slow down the measured server.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Measures complete runs. With `playbook`, the path of `ansible-playbook`, ansible-core performs the same
/// work for comparison.
pub(crate) async fn measure(program: &Path, playbook: Option<&Path>) -> Result<Vec<Row>, Box<dyn Error>> {
    let mut rows = rates::measure(program, playbook).await?;
    rows.extend(makespan::measure().await?);
    rows.extend(sessions::measure(program).await?);
    Ok(rows)
}

/// Waits until a run has a plan and begins, because planning is measured elsewhere.
pub(crate) async fn wait_for_plan(server: &impl Api, run: i64) -> Result<(), Box<dyn Error>> {
    while child_run(server, run).await?["status"] == "pending" {
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    Ok(())
}

/// Waits until a run has succeeded. Returns its duration according to its record.
pub(crate) async fn wait_for_end(server: &impl Api, run: i64) -> Result<Duration, Box<dyn Error>> {
    loop {
        let run_json = child_run(server, run).await?;
        match run_json["status"].as_str() {
            Some("ready") => return duration_of(&run_json),
            Some("pending" | "running") => tokio::time::sleep(POLL_INTERVAL).await,
            _ => return Err(format!("the run failed: {run_json}").into()),
        }
    }
}

/// Returns the duration of a run, from its start after planning to its end.
fn duration_of(run_json: &Json) -> Result<Duration, Box<dyn Error>> {
    let time = |key: &str| -> Result<DateTime, Box<dyn Error>> {
        Ok(run_json[key].as_str().ok_or("a run without times")?.parse()?)
    };
    Ok(time("time_start")?.duration_until(time("time_end")?).try_into()?)
}

/// Returns the only child run of a run.
async fn child_run(server: &impl Api, run: i64) -> Result<Json, Box<dyn Error>> {
    let run_json = server.json("GET", &format!("/api/v1/runs/{run}"), None).await?;
    Ok(run_json["parts"][0]["run"].clone())
}
