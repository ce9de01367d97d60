//! What the server does by itself: removes what nobody can use any more.

use std::time::Duration;

use stoker_model::{Actor, Change};
use stoker_store::StoreError;

use crate::state::App;

const INTERVAL: Duration = Duration::from_mins(10);

/// Never ends by itself.
pub(crate) async fn run(app: App) {
    let mut ticks = tokio::time::interval(INTERVAL);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Err(error) = purge_tokens(&app).await {
            tracing::warn!(error = %error, "expired tokens were not removed; trying again later");
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
