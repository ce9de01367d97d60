//! A module once more for everyone who carries it, a batch at a time.

use std::time::Duration;

use serde_json::json;
use stoker_model::{Actor, Change, Module, NodeId};
use stoker_modules::reapply::Batches;

use super::lists::{Wanted, enqueue, items};
use super::wait;
use crate::http::error::ApiResult;
use crate::state::App;

/// Goes on behind the answer. A server that ends in the middle leaves the rest as it is: who still needs it can be seen
/// by the sum of the contents, and asking again finds them.
pub(crate) async fn carry_out(app: App, module: Module, batches: Batches<NodeId>) {
    let n_batches = batches.batches.len();
    for (number, batch) in (1..).zip(batches.batches) {
        let mut runs = Vec::new();
        for node in batch {
            match one(&app, &module, node).await {
                Ok(run) => runs.push(run),
                Err(error) => {
                    tracing::warn!(
                        node.id = node.0,
                        module.id = module.uuid,
                        error = error.message(),
                        "a module was not applied again"
                    );
                }
            }
        }
        for run in runs {
            // How it ended is recorded; the next batch does not depend on it.
            _ = wait(&app, run, app.settings.modules.apply_time()).await;
        }
        if number < n_batches {
            tokio::time::sleep(Duration::from_secs(batches.delay_s)).await;
        }
    }
}

async fn one(app: &App, module: &Module, node: NodeId) -> ApiResult<stoker_model::RunId> {
    let mut writing = app.store.change(&Actor::server(), app.clock.now()).await?;
    let items = items(&mut writing, vec![module.clone()]).await?;
    let run = enqueue(&mut writing, Wanted::apply(node, items)).await?;
    let detail = json!({"module": module.uuid, "run": run.0});
    writing.commit(Change { action: "module.reapply", target: format!("node {node}"), detail }).await?;
    app.conduct(run);
    Ok(run)
}
