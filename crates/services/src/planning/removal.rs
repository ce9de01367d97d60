//! Removal of nodes that are marked for deletion: the graph `deletion` runs on them, then they leave their cluster.

use serde_json::json;
use stoker_model::{Actor, AuditChange, Cluster, GraphType, NodeId, PlanId, PlanRecord};
use stoker_store::{List, NodeFilter, Session};

use crate::error::ServiceResult;
use crate::graphs::planned_graph;

use super::{PlanRequest, Planning, ancestors, make_plan};

/// Marked nodes of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removal {
    pub nodes: Vec<NodeId>,
    /// Whether the graph `deletion` has tasks. Without them, nodes leave as soon as a run starts.
    pub has_graph: bool,
}

impl Removal {
    pub async fn read(planning: &Planning, session: &mut Session, cluster: &Cluster) -> ServiceResult<Self> {
        let cluster_id = Some(Some(cluster.id));
        let filter = NodeFilter { cluster: cluster_id, pending_deletion: true, ..NodeFilter::default() };
        let nodes = session.node_list(&filter, &List::default()).await?.items;
        let mut nodes: Vec<NodeId> = nodes.into_iter().map(|node| node.id).collect();
        if nodes.is_empty() {
            return Ok(Self::default());
        }
        nodes.sort_unstable();
        let graph = planned_graph(&planning.graphs, session, cluster, &GraphType::deletion()).await?;
        Ok(Self { nodes, has_graph: !graph.tasks.is_empty() || !graph.errors.is_empty() })
    }
}

/// Creates and stores a plan that a user requests. A plan of the whole cluster removes marked nodes: it follows a plan
/// of the graph `deletion` for them, unless the request names the plan that it follows.
pub async fn make_cluster_plan(
    planning: &Planning,
    actor: &Actor,
    cluster: Cluster,
    mut request: PlanRequest,
) -> ServiceResult<PlanRecord> {
    let mut deletion_plan = None;
    if request.covers_cluster() {
        // Read apart from the plan itself: if a node is marked in between, the plan is out of date when it is applied.
        let mut session = planning.store.snapshot().await?;
        let removal = Removal::read(planning, &mut session, &cluster).await?;
        drop(session);
        if removal.has_graph && request.parent_id.is_none() {
            let deletion = PlanRequest {
                graph_type: GraphType::deletion(),
                nodes: Some(removal.nodes.clone()),
                force: request.force,
                ..PlanRequest::default()
            };
            let deletion = Box::pin(make_plan(planning, actor, cluster.clone(), deletion)).await?;
            request.parent_id = Some(deletion.id);
            deletion_plan = Some(deletion.id);
        }
        request.removals = removal.nodes;
    }
    let outcome = Box::pin(make_plan(planning, actor, cluster, request)).await;
    if let (Err(_), Some(deletion)) = (&outcome, deletion_plan) {
        Box::pin(discard(planning, actor, deletion)).await?;
    }
    outcome
}

/// Deletes a plan that no other plan follows, so that a refused request leaves no plan.
async fn discard(planning: &Planning, actor: &Actor, plan: PlanId) -> ServiceResult<()> {
    let mut writing = planning.store.begin_write(actor, planning.clock.now()).await?;
    writing.plan_delete(plan).await?;
    let target = format!("plan {plan}");
    writing.commit(AuditChange { action: "plan.delete", target, detail: json!({}) }).await?;
    Ok(())
}

/// Reports whether a stored plan removes the nodes that are marked now, in the same way.
pub(super) async fn is_current(
    planning: &Planning,
    session: &mut Session,
    cluster: &Cluster,
    request: &PlanRequest,
) -> ServiceResult<bool> {
    if !request.covers_cluster() {
        return Ok(true);
    }
    let removal = Removal::read(planning, session, cluster).await?;
    let chain = ancestors(session, request.parent_id).await?;
    let has_deletion = chain.iter().any(|plan| plan.graph_type.is_deletion());
    Ok(request.removals == removal.nodes && (removal.nodes.is_empty() || has_deletion == removal.has_graph))
}

/// Nodes that leave the cluster when the plan is applied.
pub fn removals(plan: &PlanRecord) -> Vec<NodeId> {
    PlanRequest::of_record(plan).removals
}
