//! The merged graph of a cluster as plans are made from it.

use stoker_graph::{Finding, Severity, merge};
use stoker_model::{Cluster, GraphMetadata, GraphType, Task};
use stoker_store::Session;

use super::layers::{Layers, Wanted};
use crate::http::error::ApiResult;
use crate::state::App;

/// All layers as one list of tasks.
pub(crate) struct PlannedGraph {
    pub(crate) tasks: Vec<Task>,
    pub(crate) metadata: GraphMetadata,
    /// Why some tasks are not among them. Without these there must be no plan.
    pub(crate) errors: Vec<Finding>,
}

pub(crate) async fn planned_graph(
    app: &App,
    session: &mut Session,
    cluster: &Cluster,
    graph_type: &GraphType,
) -> ApiResult<PlannedGraph> {
    let layers = Layers::read(app, session, cluster, graph_type, Wanted::ALL).await?;
    let of_cluster = layers.layers();
    let merged = merge(&of_cluster, layers.rules());
    Ok(PlannedGraph {
        tasks: merged.tasks.iter().map(stoker_graph::MergedTask::to_task).collect(),
        metadata: merged.metadata.metadata,
        errors: layers
            .findings
            .iter()
            .filter(|finding| finding.severity == Severity::Error)
            .cloned()
            .collect(),
    })
}
