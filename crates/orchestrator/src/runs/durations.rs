//! Durations of tasks in earlier runs, so that long tasks can be started early.

use stoker_model::{ClusterId, GraphType};
use stoker_planner::Plan;
use stoker_store::{Session, StoreError};

/// Expected duration of each instance of a plan in milliseconds; `None` for tasks without earlier runs of the
/// graph type on the cluster. Empty if no durations are recorded.
pub(crate) async fn read(
    session: &mut Session,
    cluster: ClusterId,
    graph_type: &GraphType,
    plan: &Plan,
) -> Result<Vec<Option<u32>>, StoreError> {
    let durations = session.task_durations(cluster, graph_type).await?;
    if durations.is_empty() {
        return Ok(Vec::new());
    }
    let of = |name: &str| durations.get(name).map(|ms| u32::try_from(*ms).unwrap_or(u32::MAX).max(1));
    Ok(plan.instances().map(|instance| of(instance.task)).collect())
}
