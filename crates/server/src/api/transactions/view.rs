//! Response types of runs.

use stoker_api_types::transactions::RunView;
use stoker_model::{Json, Run};
use stoker_services::clock;

use stoker_orchestrator::runs::STOPPED;

pub(in crate::api) fn render_run(run: Run) -> RunView {
    RunView {
        id: run.id.0,
        cluster: run.cluster_id.map(|id| id.0),
        uuid: run.uuid,
        name: run.name.as_str().to_owned(),
        status: run.status.as_str().to_owned(),
        progress: run.progress,
        message: run.message,
        stopped: run.result.get(STOPPED) == Some(&Json::Bool(true)),
        result: run.result,
        dry_run: run.dry_run,
        graph_type: run.graph_type.map(|graph_type| graph_type.as_str().to_owned()),
        time_start: run.started_at.map(clock::plain),
        time_end: run.ended_at.map(clock::plain),
        parent_id: run.parent_id.map(|id| id.0),
    }
}
