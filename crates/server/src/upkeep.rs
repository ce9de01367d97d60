//! What the server does by itself: removes what nobody can use any more.

use std::time::Duration;

use stoker_model::{Actor, Change, Micros};
use stoker_store::StoreError;

use crate::state::App;

const INTERVAL: Duration = Duration::from_mins(10);
/// Plans are looked at when they are made and when something went wrong, not a season later.
const PLAN_DAYS: i64 = 90;

/// Never ends by itself.
pub(crate) async fn run(app: App) {
    let mut ticks = tokio::time::interval(INTERVAL);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Err(error) = purge_tokens(&app).await {
            tracing::warn!(error = %error, "expired tokens were not removed; trying again later");
        }
        if let Err(error) = sweep_runs(&app).await {
            tracing::warn!(error = %error, "old runs were not removed; trying again later");
        }
        if let Err(error) = sweep_plans(&app).await {
            tracing::warn!(error = %error, "old plans were not removed; trying again later");
        }
    }
}

/// Clients log in for every command, so expired tokens pile up.
async fn purge_tokens(app: &App) -> Result<(), StoreError> {
    let now = app.clock.now();
    let mut writing = app.store.change(&Actor::server(), now).await?;
    let n_removed = writing.tokens_purge(now).await?;
    if n_removed == 0 {
        return Ok(());
    }
    let detail = serde_json::json!({"n_tokens": n_removed});
    writing.commit(Change { action: "token.purge", target: "expired tokens".to_owned(), detail }).await
}

/// Removes runs of long ago, where the operator wants it.
async fn sweep_runs(app: &App) -> Result<(), StoreError> {
    let days = i64::from(app.settings.runs.keep_days);
    if days == 0 {
        return Ok(());
    }
    let now = app.clock.now();
    let mut writing = app.store.change(&Actor::server(), now).await?;
    let n_runs = writing.runs_expire(Micros(now.0 - days * 24 * 3600 * Micros::SECOND)).await?;
    if n_runs == 0 {
        return Ok(());
    }
    let detail = serde_json::json!({"n_runs": n_runs});
    writing.commit(Change { action: "run.sweep", target: "old runs".to_owned(), detail }).await
}

/// Removes plans of long ago, and what nothing needs of states any more: clusters that went left some.
async fn sweep_plans(app: &App) -> Result<(), StoreError> {
    let now = app.clock.now();
    let mut writing = app.store.change(&Actor::server(), now).await?;
    let n_plans = writing.plans_expire(Micros(now.0 - PLAN_DAYS * 24 * 3600 * Micros::SECOND)).await?;
    let collected = writing.states_collect().await?;
    if n_plans == 0 && collected.n_documents == 0 {
        return Ok(());
    }
    let detail = serde_json::json!({"n_plans": n_plans, "n_documents": collected.n_documents});
    writing.commit(Change { action: "plan.sweep", target: "old plans".to_owned(), detail }).await
}
