//! Response types of runs.

use stoker_api_types::transactions::{EffectsView, RunView};
use stoker_model::Run;
use stoker_services::clock;
use stoker_store::{Effects, Session, StoreError};

pub(in crate::api) fn render_run(run: Run) -> RunView {
    let (stopped, end) = (run.was_stopped(), run.end());
    RunView {
        id: run.id.0,
        cluster: run.cluster_id.map(|id| id.0),
        uuid: run.uuid,
        name: run.name.as_str().to_owned(),
        status: run.status.as_str().to_owned(),
        progress: run.progress,
        message: run.message,
        stopped,
        outcome: end.map(|end| end.as_str().to_owned()),
        result: run.result,
        dry_run: run.dry_run,
        graph_type: run.graph_type.map(|graph_type| graph_type.as_str().to_owned()),
        time_start: run.started_at.map(clock::plain),
        time_end: run.ended_at.map(clock::plain),
        parent_id: run.parent_id.map(|id| id.0),
        effects: None,
    }
}

/// Renders a run with the effects of its task instances, if it has ended.
pub(in crate::api) async fn render_details(session: &mut Session, run: Run) -> Result<RunView, StoreError> {
    let effects = match run.ended_at {
        Some(_) => Some(session.history_effects(run.id).await?),
        None => None,
    };
    let view = |Effects { changed, unchanged, unknown }| EffectsView { changed, unchanged, unknown };
    Ok(RunView { effects: effects.map(view), ..render_run(run) })
}
