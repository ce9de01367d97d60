//! Garbage collection: deletes records that are no longer needed.

use std::time::Duration;

use stoker_model::{Actor, AuditChange, ErrorChain, Micros};
use stoker_orchestrator::OrchestratorContext;
use stoker_services::background::TaskMonitor;
use stoker_store::StoreError;

pub(crate) const INTERVAL: Duration = Duration::from_mins(10);
/// Retention of notifications.
const NOTIFICATION_DAYS: i64 = 30;

/// Retention of records of stopped servers, so that a restarted server is recognized.
const SERVER_SECONDS: i64 = 3600;

/// Runs garbage collection periodically; never returns. If several servers share a database, a lease selects
/// one of them for each pass.
pub(crate) async fn run(context: OrchestratorContext, monitor: TaskMonitor) {
    let mut ticks = tokio::time::interval(INTERVAL);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        monitor.start();
        // A little less than the interval, so that the server that had the lease last need not skip a pass.
        if !context.take_lease("upkeep", INTERVAL.as_secs() as i64 - 5).await {
            monitor.succeed();
            continue;
        }
        let passes = [
            ("stale server records", sweep_servers(&context).await),
            ("expired tokens", purge_tokens(&context).await),
            ("old runs", sweep_runs(&context).await),
            ("old plans", sweep_plans(&context).await),
            ("old notifications", sweep_notifications(&context).await),
        ];
        let mut is_done = true;
        for (records, result) in passes {
            if let Err(error) = result {
                tracing::warn!(error = %ErrorChain(&error), "cannot delete {records}; will retry");
                monitor.fail(format!("cannot delete {records}: {}", ErrorChain(&error)));
                is_done = false;
            }
        }
        if is_done {
            monitor.succeed();
        }
    }
}

/// Deletes stale server records and undelivered peer messages.
async fn sweep_servers(context: &OrchestratorContext) -> Result<(), StoreError> {
    let now = context.clock.now();
    context.store.servers_expire(Micros(now.0 - SERVER_SECONDS * Micros::SECOND), now).await
}

/// Clients log in for every command, so expired tokens accumulate.
async fn purge_tokens(context: &OrchestratorContext) -> Result<(), StoreError> {
    let now = context.clock.now();
    let mut writing = context.store.begin_write(&Actor::server(), now).await?;
    let n_removed = writing.tokens_purge(now).await?;
    if n_removed == 0 {
        return Ok(());
    }
    let detail = serde_json::json!({"n_tokens": n_removed});
    writing.commit(AuditChange { action: "token.purge", target: "expired tokens".to_owned(), detail }).await
}

/// Deletes runs beyond the configured retention.
async fn sweep_runs(context: &OrchestratorContext) -> Result<(), StoreError> {
    let days = i64::from(context.settings.runs.keep_days);
    if days == 0 {
        return Ok(());
    }
    let now = context.clock.now();
    let mut writing = context.store.begin_write(&Actor::server(), now).await?;
    let n_runs = writing.runs_expire(Micros(now.0 - days * 24 * 3600 * Micros::SECOND)).await?;
    if n_runs == 0 {
        return Ok(());
    }
    let detail = serde_json::json!({"n_runs": n_runs});
    writing.commit(AuditChange { action: "run.sweep", target: "old runs".to_owned(), detail }).await
}

/// Deletes plans beyond the configured retention, and state documents without references.
async fn sweep_plans(context: &OrchestratorContext) -> Result<(), StoreError> {
    let days = i64::from(context.settings.runs.keep_plans_days);
    let now = context.clock.now();
    let mut writing = context.store.begin_write(&Actor::server(), now).await?;
    let n_plans = match days {
        0 => 0,
        days => writing.plans_expire(Micros(now.0 - days * 24 * 3600 * Micros::SECOND)).await?,
    };
    let collected = writing.states_gc().await?;
    if n_plans == 0 && collected.n_documents == 0 {
        return Ok(());
    }
    let detail = serde_json::json!({"n_plans": n_plans, "n_documents": collected.n_documents});
    writing.commit(AuditChange { action: "plan.sweep", target: "old plans".to_owned(), detail }).await
}

/// Deletes notifications beyond their retention.
async fn sweep_notifications(context: &OrchestratorContext) -> Result<(), StoreError> {
    let now = context.clock.now();
    let mut writing = context.store.begin_write(&Actor::server(), now).await?;
    let before = Micros(now.0 - NOTIFICATION_DAYS * 24 * 3600 * Micros::SECOND);
    let n_removed = writing.notifications_expire(before).await?;
    if n_removed == 0 {
        return Ok(());
    }
    let detail = serde_json::json!({"n_removed": n_removed});
    writing
        .commit(AuditChange { action: "notification.sweep", target: "old notifications".to_owned(), detail })
        .await
}
