//! Waiting for the end of a list.

use std::time::Duration;

use stoker_model::{Run, RunId, RunStatus};
use stoker_services::{ServiceError, ServiceResult};

use crate::orchestrator::Orchestrator;

/// Bells can be missed where several servers share a database.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);

/// The run when it has ended; none if it does not end in time.
pub async fn wait(orchestrator: &Orchestrator, run: RunId, longest: Duration) -> ServiceResult<Option<Run>> {
    let ended = tokio::time::timeout(longest, async {
        loop {
            let bell = orchestrator.event_feed.bell(run);
            let rung = bell.notified();
            let found = orchestrator.context.store.read().await?.run_get(run).await?;
            let found = found.ok_or_else(|| ServiceError::not_found("Run"))?;
            if !matches!(found.status, RunStatus::Pending | RunStatus::Running) {
                return Ok(found);
            }
            // It may ring or not: the next look tells.
            _ = tokio::time::timeout(LOOK_INTERVAL, rung).await;
        }
    });
    let ended = ended.await.ok().transpose();
    // Nobody may be left to listen: then the bell goes.
    orchestrator.event_feed.notify(run);
    ended
}
