//! Reapplies a module to its nodes in batches.

use std::time::Duration;

use serde_json::json;
use stoker_model::{AuditChange, NodeId, RunStatus};
use stoker_services::modules::lists::{ModuleListRequest, enqueue, items};
use stoker_services::runs::{Progress, Reapply};

use super::conclude::{FencedRun, change};
use super::conductor::{Interruption, start_drivers};
use super::launch::end;
use super::wait::wait;
use crate::orchestrator::Orchestrator;

/// Each batch is enqueued in the same transaction as the progress, so that a takeover does not repeat it.
pub(super) async fn carry_out(
    orchestrator: &Orchestrator,
    fenced: FencedRun,
    reapply: &Reapply,
) -> Result<(), Interruption> {
    let run = fenced.run;
    loop {
        let record =
            orchestrator.context.store.read().await?.run_get(run).await?.ok_or(Interruption::Lost)?;
        let progress = Progress::decode(&record.result);
        for list in &progress.lists {
            // The result is recorded with the list; the next batch does not depend on it. The list may have
            // been deleted.
            _ = wait(orchestrator, *list, orchestrator.context.settings.modules.apply_time()).await;
        }
        let Some(batch) = reapply.batches.get(progress.n_sent) else {
            return conclude(orchestrator, fenced, None).await;
        };
        if progress.n_sent > 0 {
            tokio::time::sleep(Duration::from_secs(reapply.delay_s)).await;
        }
        if !send(orchestrator, fenced, reapply, batch, progress.n_sent + 1).await? {
            return conclude(orchestrator, fenced, Some("the module was deleted".to_owned())).await;
        }
    }
}

/// Enqueues a batch. Returns `false` if the module was deleted.
async fn send(
    orchestrator: &Orchestrator,
    fenced: FencedRun,
    reapply: &Reapply,
    batch: &[NodeId],
    n_sent: usize,
) -> Result<bool, Interruption> {
    let run = fenced.run;
    let mut writing = change(orchestrator, fenced).await?;
    let Some(module) = writing.module_by_uuid(&reapply.module).await? else { return Ok(false) };
    let module = items(&mut writing, vec![module]).await?;
    let mut lists = Vec::with_capacity(batch.len());
    for node in batch {
        // The node may have been deleted.
        if writing.node_get(*node).await?.is_some() {
            lists.push(enqueue(&mut writing, ModuleListRequest::apply(*node, module.clone())).await?);
        }
    }
    let mut record = writing.run_get(run).await?.ok_or(Interruption::Lost)?;
    record.progress = i64::try_from(100 * (n_sent - 1) / reapply.batches.len()).unwrap_or(0);
    record.result = Progress { n_sent, lists: lists.clone() }.encode(reapply);
    let detail = json!({"module": reapply.module, "batch": n_sent, "n_instances": lists.len()});
    writing.run_update(&record).await?;
    writing.commit(AuditChange { action: "module.reapply", target: format!("run {run}"), detail }).await?;
    start_drivers(orchestrator, lists);
    Ok(true)
}

async fn conclude(
    orchestrator: &Orchestrator,
    fenced: FencedRun,
    message: Option<String>,
) -> Result<(), Interruption> {
    let run = fenced.run;
    let mut writing = change(orchestrator, fenced).await?;
    let mut record = writing.run_get(run).await?.ok_or(Interruption::Lost)?;
    let status = if message.is_some() { RunStatus::Error } else { RunStatus::Ready };
    let now = writing.now();
    end(&mut record, status, message, now);
    // Successful module runs are hidden from the task list.
    record.is_hidden = status == RunStatus::Ready;
    writing.run_update(&record).await?;
    let detail = json!({"status": status.as_str()});
    writing.commit(AuditChange { action: "run.end", target: format!("run {run}"), detail }).await?;
    orchestrator.notify_watchers(run);
    Ok(())
}
