//! What the server does by itself: removes what nobody can use any more.

use std::time::Duration;

use stoker_model::{Actor, Change, Micros};
use stoker_store::StoreError;

use crate::state::App;

const INTERVAL: Duration = Duration::from_mins(10);
/// What happened a month ago is no news.
const NOTIFICATION_DAYS: i64 = 30;

/// A server that starts again at the same place is known for so long.
const SERVER_SECONDS: i64 = 3600;

/// Never ends by itself. Where there are several servers, one of them does it each time.
pub(crate) async fn run(app: App) {
    let mut ticks = tokio::time::interval(INTERVAL);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        // A little less, so that whoever had it last need not wait a turn.
        if !app.is_chosen("upkeep", INTERVAL.as_secs() as i64 - 5).await {
            continue;
        }
        if let Err(error) = sweep_servers(&app).await {
            tracing::warn!(error = %error, "servers of long ago were not forgotten; trying again later");
        }
        if let Err(error) = purge_tokens(&app).await {
            tracing::warn!(error = %error, "expired tokens were not removed; trying again later");
        }
        if let Err(error) = sweep_runs(&app).await {
            tracing::warn!(error = %error, "old runs were not removed; trying again later");
        }
        if let Err(error) = sweep_plans(&app).await {
            tracing::warn!(error = %error, "old plans were not removed; trying again later");
        }
        if let Err(error) = sweep_notifications(&app).await {
            tracing::warn!(error = %error, "old notifications were not removed; trying again later");
        }
    }
}

/// Forgets servers that are gone for good, and letters that nobody fetched.
async fn sweep_servers(app: &App) -> Result<(), StoreError> {
    let now = app.clock.now();
    app.store.servers_sweep(Micros(now.0 - SERVER_SECONDS * Micros::SECOND), now).await
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
    let days = i64::from(app.settings.runs.keep_plans_days);
    let now = app.clock.now();
    let mut writing = app.store.change(&Actor::server(), now).await?;
    let n_plans = match days {
        0 => 0,
        days => writing.plans_expire(Micros(now.0 - days * 24 * 3600 * Micros::SECOND)).await?,
    };
    let collected = writing.states_collect().await?;
    if n_plans == 0 && collected.n_documents == 0 {
        return Ok(());
    }
    let detail = serde_json::json!({"n_plans": n_plans, "n_documents": collected.n_documents});
    writing.commit(Change { action: "plan.sweep", target: "old plans".to_owned(), detail }).await
}

/// Removes what was told long ago.
async fn sweep_notifications(app: &App) -> Result<(), StoreError> {
    let now = app.clock.now();
    let mut writing = app.store.change(&Actor::server(), now).await?;
    let before = Micros(now.0 - NOTIFICATION_DAYS * 24 * 3600 * Micros::SECOND);
    let n_removed = writing.notifications_expire(before).await?;
    if n_removed == 0 {
        return Ok(());
    }
    let detail = serde_json::json!({"n_removed": n_removed});
    writing
        .commit(Change { action: "notification.sweep", target: "old notifications".to_owned(), detail })
        .await
}
