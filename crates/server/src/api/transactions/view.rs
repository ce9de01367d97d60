//! Response types of runs.

use serde::Serialize;
use stoker_model::{Json, Run};
use stoker_services::clock;
use utoipa::ToSchema;

use stoker_orchestrator::runs::STOPPED;

/// Run, or child run that executes one graph.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Transaction)]
pub(in crate::api) struct RunView {
    /// ID of the run.
    #[schema(example = 7)]
    id: i64,
    /// ID of the cluster. Null if the run has none or the cluster was deleted.
    #[schema(example = 3)]
    cluster: Option<i64>,
    /// UUID of the run.
    uuid: String,
    /// Name of the operation.
    #[schema(example = "deploy")]
    name: &'static str,
    /// Status: `pending`, `running`, `ready` or `error`.
    #[schema(example = "ready")]
    status: &'static str,
    /// Progress in percent.
    #[schema(example = 100, minimum = 0, maximum = 100)]
    progress: i64,
    /// Human-readable result.
    message: Option<String>,
    /// Machine-readable result.
    result: Json,
    /// Whether the run only plans and executes nothing.
    dry_run: bool,
    /// Whether a user stopped the run before it completed.
    stopped: bool,
    /// Graph type; null for a run of several graphs.
    #[schema(example = "default")]
    graph_type: Option<String>,
    /// Start time.
    #[schema(example = "2026-01-31T07:00:00.123456")]
    time_start: Option<String>,
    /// End time.
    time_end: Option<String>,
    /// ID of the parent, if this is a child run.
    parent_id: Option<i64>,
}

impl From<Run> for RunView {
    fn from(run: Run) -> Self {
        Self {
            id: run.id.0,
            cluster: run.cluster_id.map(|id| id.0),
            uuid: run.uuid,
            name: run.name.as_str(),
            status: run.status.as_str(),
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
}
