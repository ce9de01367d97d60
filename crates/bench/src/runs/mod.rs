//! Runs as a whole: what a server with its database manages a second, what real agents add to starting a program, how
//! long a run lasts beside the best that is possible, and how many agents one server holds.

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

/// How often it is looked how far a run is; to look more often would slow down what is measured.
const LOOK: Duration = Duration::from_millis(100);

/// With `playbook`, which runs playbooks of ansible-core, that does the same work too.
pub(crate) async fn measure(program: &Path, playbook: Option<&Path>) -> Result<Vec<Row>, Box<dyn Error>> {
    let mut rows = rates::measure(program, playbook).await?;
    rows.extend(makespan::measure().await?);
    rows.extend(sessions::measure(program).await?);
    Ok(rows)
}

/// Waits until a run has a plan and begins: planning is measured elsewhere.
pub(crate) async fn wait_for_plan(server: &impl Api, run: i64) -> Result<(), Box<dyn Error>> {
    while part(server, run).await?["status"] == "pending" {
        tokio::time::sleep(LOOK).await;
    }
    Ok(())
}

/// Waits until a run has succeeded: how long it took, as its record says.
pub(crate) async fn wait_for_end(server: &impl Api, run: i64) -> Result<Duration, Box<dyn Error>> {
    loop {
        let shown = part(server, run).await?;
        match shown["status"].as_str() {
            Some("ready") => return lasted(&shown),
            Some("pending" | "running") => tokio::time::sleep(LOOK).await,
            _ => return Err(format!("the run failed: {shown}").into()),
        }
    }
}

/// From when the plan was made and the run began to its end.
fn lasted(shown: &Json) -> Result<Duration, Box<dyn Error>> {
    let time = |key: &str| -> Result<DateTime, Box<dyn Error>> {
        Ok(shown[key].as_str().ok_or("a run without times")?.parse()?)
    };
    Ok(time("time_start")?.duration_until(time("time_end")?).try_into()?)
}

/// The only part of a run.
async fn part(server: &impl Api, run: i64) -> Result<Json, Box<dyn Error>> {
    let shown = server.json("GET", &format!("/api/v1/runs/{run}"), None).await?;
    Ok(shown["parts"][0]["run"].clone())
}
