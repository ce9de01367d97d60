//! Waits for the end of a run.

use std::time::Duration;

use stoker_model::{Run, RunId, RunStatus};
use stoker_services::{ServiceError, ServiceResult};

use crate::orchestrator::Orchestrator;

/// Poll interval. Notifications can be missed if several servers share the database.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);

/// Waits until a run has ended and returns it; `None` after the timeout.
pub async fn wait(orchestrator: &Orchestrator, run: RunId, longest: Duration) -> ServiceResult<Option<Run>> {
    let ended = tokio::time::timeout(longest, async {
        loop {
            let bell = orchestrator.event_feed.subscribe(run);
            let rung = bell.notified();
            let record = orchestrator.context.store.read().await?.run_get(run).await?;
            let record = record.ok_or_else(|| ServiceError::not_found("Run"))?;
            if !matches!(record.status, RunStatus::Pending | RunStatus::Running) {
                return Ok(record);
            }
            // The next poll reads the state, whether or not a notification arrived.
            _ = tokio::time::timeout(LOOK_INTERVAL, rung).await;
        }
    });
    let ended = ended.await.ok().transpose();
    // If this was the last watcher, `notify` removes the notification of the run.
    orchestrator.event_feed.notify(run);
    ended
}
