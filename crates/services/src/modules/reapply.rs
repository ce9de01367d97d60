//! Reapplication of a module to all its nodes in batches. It is stored as a run, so that a driver resumes it after a
//! crash.

use stoker_model::{Module, NewRun, NodeId, RunId, RunName, RunStatus};
use stoker_modules::reapply::Batches;
use stoker_store::WriteTransaction;

use crate::error::ServiceResult;
use crate::random;
use crate::runs::{Progress, Reapply, RunKind};

/// Enqueues a reapplication. The caller starts the returned run after commit; `None` without nodes.
pub async fn enqueue(
    writing: &mut WriteTransaction,
    module: &Module,
    batches: &Batches<NodeId>,
) -> ServiceResult<Option<RunId>> {
    if batches.batches.is_empty() {
        return Ok(None);
    }
    let reapply =
        Reapply { module: module.uuid.clone(), batches: batches.batches.clone(), delay_s: batches.delay_s };
    let run = writing
        .run_create(&NewRun {
            result: Progress::default().encode(&reapply),
            started_at: Some(writing.now()),
            ..NewRun::new(random::uuid()?, RunName::Modules, RunStatus::Running)
        })
        .await?;
    writing.run_work_create(run.id, &RunKind::Reapply(reapply).encode()).await?;
    Ok(Some(run.id))
}
