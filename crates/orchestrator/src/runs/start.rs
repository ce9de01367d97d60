//! Starts runs of graphs, sequences and plans after validating them.

use std::collections::{BTreeSet, HashSet};

use stoker_model::{Actor, Cluster, GraphType, NodeId, PlanRecord, Run, RunName, Sequence};
use stoker_planner::Subgraph;
use stoker_services::planning::{self, PlanRequest, Removal};
use stoker_services::runs::records::require_idle;
use stoker_services::runs::{GraphRequest, RunOptions};
use stoker_services::{ServiceError, ServiceResult};
use stoker_store::{List, NodeFilter, SequenceFilter, Session};

use super::launch::{Launch, launch, launch_if_unchanged};
use crate::orchestrator::Orchestrator;

/// Name of the sequence that deploys pending changes, if the release has it.
const DEPLOY_CHANGES: &str = "deploy-changes";
/// Maximum number of attempts to start a plan while concurrent changes to its inputs are committed.
const APPLY_ATTEMPTS: usize = 10;

/// Which graph to run, and on which nodes.
pub struct GraphSelection {
    /// Graph type to run if the release has no sequence `deploy-changes`.
    pub graph_type: Option<GraphType>,
    /// Node UIDs; `None` for all nodes.
    pub nodes: Option<Vec<String>>,
}

/// Validates the graphs of a run and starts it. A run of the whole cluster also removes marked nodes.
pub async fn start(
    orchestrator: &Orchestrator,
    actor: &Actor,
    cluster: &Cluster,
    request: Launch,
) -> ServiceResult<Run> {
    let planning = &orchestrator.context.services.planning;
    let mut session = orchestrator.context.store.snapshot().await?;
    let request = with_removal(request, Removal::read(planning, &mut session, cluster).await?);
    let mut tasks = HashSet::new();
    for graph in &request.graphs {
        let ignore_limits = request.run_options.ignore_limits;
        let graph = PlanRequest { ignore_limits, ..graph.plan_request() };
        tasks.extend(planning::check_request(planning, &mut session, cluster, &graph).await?);
    }
    drop(session);
    check_endpoints(&request.run_options.subgraphs, &tasks)?;
    launch(orchestrator, actor, cluster.id, request).await
}

/// Adds the removal of marked nodes to a run of the whole cluster, before its other graphs. A graph `deletion` of the
/// run itself, in a sequence for instance, covers the marked nodes and ignores its node filter.
fn with_removal(mut request: Launch, removal: Removal) -> Launch {
    let marked = || GraphRequest {
        nodes: Some(removal.nodes.iter().map(ToString::to_string).collect()),
        ..GraphRequest::entire_graph(GraphType::deletion())
    };
    let mut has_deletion = false;
    for graph in request.graphs.iter_mut().filter(|graph| graph.graph_type.is_deletion()) {
        has_deletion = true;
        if graph.nodes.is_none() {
            graph.nodes = marked().nodes;
        }
    }
    let covers_cluster = |graph: &GraphRequest| {
        graph.graph_type == GraphType::default() && graph.nodes.is_none() && graph.tasks.is_none()
    };
    let removes = request.run_options.subgraphs.is_empty() && request.graphs.iter().any(covers_cluster);
    if removes && !has_deletion && !removal.nodes.is_empty() {
        if removal.has_graph {
            request.graphs.insert(0, marked());
        } else {
            request.leaving = removal.nodes;
        }
    }
    request
}

/// Runs the graphs of a sequence one after another.
pub async fn start_sequence(
    orchestrator: &Orchestrator,
    actor: &Actor,
    cluster: &Cluster,
    sequence: &Sequence,
    run_options: RunOptions,
) -> ServiceResult<Run> {
    if cluster.release_id != sequence.release_id {
        let message = format!("Sequence '{}' is not found for cluster {}", sequence.name, cluster.name);
        return Err(ServiceError::NotFound(message));
    }
    let graphs = sequence.graphs.iter().map(GraphRequest::of_sequence).collect();
    deploy(orchestrator, actor, cluster, graphs, run_options).await
}

/// Runs the sequence `deploy-changes` of the release or, if it does not exist, one graph.
pub async fn start_changes(
    orchestrator: &Orchestrator,
    actor: &Actor,
    cluster: &Cluster,
    selection: GraphSelection,
    run_options: RunOptions,
) -> ServiceResult<Run> {
    let GraphSelection { graph_type, nodes } = selection;
    let mut session = orchestrator.context.store.snapshot().await?;
    let filter = SequenceFilter { release_id: Some(cluster.release_id) };
    let sequences = session.sequence_list(&filter, &List::default()).await?.items;
    drop(session);
    let graphs = match sequences.iter().find(|sequence| sequence.name == DEPLOY_CHANGES) {
        Some(sequence) => {
            let graphs = sequence.graphs.iter().map(GraphRequest::of_sequence);
            graphs.map(|graph| graph.restricted_to(nodes.as_deref())).collect()
        }
        None => vec![GraphRequest { nodes, ..GraphRequest::entire_graph(graph_type.unwrap_or_default()) }],
    };
    deploy(orchestrator, actor, cluster, graphs, run_options).await
}

async fn deploy(
    orchestrator: &Orchestrator,
    actor: &Actor,
    cluster: &Cluster,
    graphs: Vec<GraphRequest>,
    run_options: RunOptions,
) -> ServiceResult<Run> {
    let request = Launch { graphs, run_options, name: RunName::Deploy, leaving: Vec::new() };
    start(orchestrator, actor, cluster, request).await
}

/// Runs one graph. Nodes that do not exist are not found; nodes of other clusters are invalid.
pub async fn start_one(
    orchestrator: &Orchestrator,
    actor: &Actor,
    cluster: &Cluster,
    graph: GraphRequest,
    run_options: RunOptions,
    name: RunName,
) -> ServiceResult<Run> {
    if let Some(nodes) = &graph.nodes {
        require_nodes(&mut orchestrator.context.store.snapshot().await?, nodes).await?;
    }
    start(
        orchestrator,
        actor,
        cluster,
        Launch { graphs: vec![graph], run_options, name, leaving: Vec::new() },
    )
    .await
}

async fn require_nodes(session: &mut Session, nodes: &[String]) -> ServiceResult<()> {
    let ids: BTreeSet<NodeId> = nodes.iter().filter_map(|node| NodeId::parse(node)).collect();
    let filter = NodeFilter { ids: Some(ids.iter().copied().collect()), ..NodeFilter::default() };
    if session.node_list(&filter, &List::default()).await?.items.len() < ids.len() {
        return Err(ServiceError::not_found("NodeCollection"));
    }
    Ok(())
}

/// Runs a plan as stored, after the plans that it follows, unless their inputs have changed since they were created.
pub async fn apply_plan(
    orchestrator: &Orchestrator,
    actor: &Actor,
    plan: &PlanRecord,
    run_options: RunOptions,
) -> ServiceResult<Run> {
    if run_options.force || run_options.ignore_limits || !run_options.subgraphs.is_empty() {
        return Err(ServiceError::invalid(
            "`force`, `ignore_limits` and `subgraphs` cannot be set when a plan is applied; set them when the plan is created",
        ));
    }
    // An active run changes the inputs of the plan; report the run instead of those changes.
    let mut session = orchestrator.context.store.snapshot().await?;
    require_idle(&mut session, plan.cluster_id).await?;
    let ancestors = planning::ancestors(&mut session, plan.parent_id).await?;
    drop(session);
    // Without a graph `deletion`, marked nodes leave when the run starts.
    let has_deletion = ancestors.iter().any(|plan| plan.graph_type.is_deletion());
    let leaving = if has_deletion { Vec::new() } else { planning::removals(plan) };
    let plans: Vec<&PlanRecord> = ancestors.iter().chain([plan]).collect();
    let of_plan = |plan: &&PlanRecord| GraphRequest {
        plan: Some(plan.id),
        ..GraphRequest::entire_graph(plan.graph_type.clone())
    };
    let graphs = plans.iter().map(of_plan).collect();
    let request = Launch { graphs, run_options, name: RunName::Deploy, leaving };
    let planning = &orchestrator.context.services.planning;
    // Optimistic concurrency: retry if the inputs change between the check and the start, so that only an
    // approved plan runs.
    for _ in 0..APPLY_ATTEMPTS {
        let (mut changed, mut snapshot) = (Vec::new(), None);
        for plan in &plans {
            let (differing, first_snapshot) =
                planning::changes_since(planning, plan.cluster_id, plan).await?;
            changed.extend(differing);
            // The oldest snapshot: nothing may have been committed since the first check.
            snapshot.get_or_insert(first_snapshot);
        }
        let Some(snapshot) = snapshot else { break };
        if !changed.is_empty() {
            changed.sort_unstable();
            changed.dedup();
            return Err(ServiceError::conflict(format!(
                "the plan is out of date: these have changed since it was created: {}; create a new plan",
                changed.join(", ")
            )));
        }
        if let Some(run) =
            launch_if_unchanged(orchestrator, actor, plan.cluster_id, &request, snapshot).await?
        {
            return Ok(run);
        }
    }
    Err(ServiceError::conflict(
        "cannot check whether the plan is current because its inputs keep changing; try again",
    ))
}

/// Requires subgraph endpoints to be tasks of the graphs: with a misspelled name, the run would execute
/// nothing and succeed.
fn check_endpoints(subgraphs: &[Subgraph], tasks: &HashSet<String>) -> ServiceResult<()> {
    let is_known = |reference: &str| {
        // `task/nodes`: strip the nodes. Task names may contain slashes themselves.
        let name = reference.rsplit_once('/').map_or(reference, |(name, _)| name);
        tasks.contains(reference) || tasks.contains(name)
    };
    let endpoints = subgraphs.iter().flat_map(|subgraph| subgraph.start.iter().chain(&subgraph.end));
    let unknown: Vec<&str> = endpoints.map(String::as_str).filter(|endpoint| !is_known(endpoint)).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    Err(ServiceError::invalid(format!("Tasks {} are not present in deployment graph", unknown.join(","))))
}
