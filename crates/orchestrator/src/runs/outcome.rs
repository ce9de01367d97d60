//! Status and progress of nodes, and applied states of tasks, written in the same transaction as the events that
//! cause them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use stoker_engine::blueprint::Blueprint;
use stoker_engine::run::{EngineEvent, NodeOutcome, RunEffect, RunMachine as RunState};
use stoker_model::{
    ClusterId, GraphMetadata, GraphType, InstanceIdx, Json, JsonMap, Node, NodeErrorKind, NodeId, NodeIdx,
    NodeStatus, Run, RunId,
};
use stoker_store::{AppliedScope, List, NodeFilter, StoreError, WriteTransaction};

use stoker_services::Clock;

use super::applied::{AppliedChanges, AppliedPlan, RecordedInputs};

/// Interval between progress updates. Ends of nodes are written immediately.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(2);
/// Maximum number of nodes per progress update; further nodes follow in the next update. Each is a record of
/// a few kilobytes.
const PROGRESS_NODES_MAX: usize = 500;

/// Node attributes that a graph sets when it ends on a node, by outcome.
#[derive(Clone, Debug, Default)]
pub(super) struct Transitions {
    success: Option<JsonMap>,
    error: Option<JsonMap>,
    stop: Option<JsonMap>,
}

impl Transitions {
    pub(super) fn new(metadata: &GraphMetadata) -> Self {
        let node_attributes = |action: &Option<JsonMap>| {
            let action = action.as_ref()?;
            Some(action.get("node_attributes").and_then(Json::as_object).cloned().unwrap_or_default())
        };
        Self {
            success: node_attributes(&metadata.on_success),
            error: node_attributes(&metadata.on_error),
            stop: node_attributes(&metadata.on_stop),
        }
    }

    /// Attributes for an outcome; `None` if the graph does not define them, and the default status applies.
    fn attributes(&self, end: NodeOutcome) -> Option<&JsonMap> {
        match end {
            NodeOutcome::Succeeded => self.success.as_ref(),
            NodeOutcome::Failed { .. } | NodeOutcome::Blocked { .. } | NodeOutcome::Lost => {
                self.error.as_ref()
            }
            NodeOutcome::Stopped => self.stop.as_ref(),
        }
    }
}

pub(super) struct Outcomes {
    pub(super) run: RunId,
    pub(super) cluster: ClusterId,
    pub(super) plan: AppliedPlan,
    /// `false` for dry runs and noop runs, which change no node status and no applied state.
    pub(super) is_real: bool,
    /// Nodes without instances in a run of a part of their graph. Their status does not
    /// change, because the run covers only a part of the graph.
    pub(super) bystanders: BTreeSet<NodeIdx>,
    pub(super) transitions: Transitions,
    pub(super) progress: Progress,
}

/// Progress as last written, in percent.
#[derive(Default)]
pub(super) struct Progress {
    at: Option<std::time::Instant>,
    run: i64,
    nodes: BTreeMap<NodeIdx, i64>,
}

/// Changes to write in the same transaction as the events.
pub(super) struct Changes {
    run: RunId,
    cluster: ClusterId,
    graph_type: GraphType,
    applied: AppliedChanges,
    ends: Vec<(NodeId, Ended)>,
    node_progress: Vec<(NodeId, i64)>,
    run_progress: Option<i64>,
}

struct Ended {
    status: Option<String>,
    attributes: JsonMap,
    message: Option<String>,
    /// The graph `deletion` ended by its default rules: a marked node leaves on success.
    is_removal: bool,
}

impl Outcomes {
    pub(super) fn changes(
        &mut self,
        blueprint: &Blueprint,
        run: &RunState,
        events: &[EngineEvent],
        effects: &[RunEffect],
        inputs_of: &dyn Fn(InstanceIdx, &str) -> Option<RecordedInputs>,
    ) -> Changes {
        let mut changes = Changes {
            run: self.run,
            cluster: self.cluster,
            graph_type: self.plan.graph_type.clone(),
            applied: if self.is_real {
                self.plan.changes(self.run, self.cluster, blueprint, events, effects, inputs_of)
            } else {
                AppliedChanges::default()
            },
            ends: Vec::new(),
            node_progress: Vec::new(),
            run_progress: None,
        };
        for effect in effects {
            if let RunEffect::NodeEnded { node, end } = effect {
                self.node_ended(blueprint, *node, *end, &mut changes);
            }
        }
        self.note_progress(blueprint, run, &mut changes);
        changes
    }

    fn node_ended(&mut self, blueprint: &Blueprint, node: NodeIdx, end: NodeOutcome, changes: &mut Changes) {
        let Some(id) = blueprint.node(node).and_then(NodeId::parse) else { return };
        self.progress.nodes.insert(node, 100);
        if !self.is_real || self.bystanders.contains(&node) {
            changes.node_progress.push((id, 100));
            return;
        }
        let ended = match self.transitions.attributes(end) {
            Some(attributes) => Ended {
                status: attributes.get("status").and_then(Json::as_str).map(str::to_owned),
                attributes: attributes.clone(),
                message: end.message(blueprint),
                is_removal: false,
            },
            None => Ended {
                status: Some(end.status().as_str().to_owned()),
                attributes: JsonMap::new(),
                message: end.message(blueprint),
                is_removal: self.plan.graph_type.is_deletion(),
            },
        };
        changes.ends.push((id, ended));
    }

    fn note_progress(&mut self, blueprint: &Blueprint, run: &RunState, changes: &mut Changes) {
        let now = Clock::instant();
        let is_due = self.progress.at.is_none_or(|at| now.duration_since(at) >= PROGRESS_INTERVAL);
        if !is_due && !run.has_ended() {
            return;
        }
        self.progress.at = Some(now);
        let percent = i64::from(run.progress());
        if percent != self.progress.run {
            self.progress.run = percent;
            changes.run_progress = Some(percent);
        }
        for node in NodeIdx::first(blueprint.n_nodes()) {
            if changes.node_progress.len() >= PROGRESS_NODES_MAX {
                break;
            }
            let Some(id) = blueprint.node(node).and_then(NodeId::parse) else { continue };
            let percent = i64::from(run.node_progress(blueprint, node));
            if self.progress.nodes.get(&node) != Some(&percent) {
                self.progress.nodes.insert(node, percent);
                changes.node_progress.push((id, percent));
            }
        }
    }
}

impl Changes {
    pub(super) async fn write(&self, writing: &mut WriteTransaction) -> Result<(), StoreError> {
        self.applied.write(writing).await?;
        let mut by_percent: BTreeMap<i64, Vec<NodeId>> = BTreeMap::new();
        for (id, percent) in &self.node_progress {
            by_percent.entry(*percent).or_default().push(*id);
        }
        for (percent, ids) in by_percent {
            writing.nodes_progress(&ids, percent).await?;
        }
        self.write_ends(writing).await?;
        if let Some(percent) = self.run_progress
            && let Some(mut run) = writing.run_get(self.run).await?
        {
            run.progress = percent;
            writing.run_update(&run).await?;
            note_on_parent(writing, &run).await?;
        }
        Ok(())
    }

    async fn write_ends(&self, writing: &mut WriteTransaction) -> Result<(), StoreError> {
        if self.ends.is_empty() {
            return Ok(());
        }
        let ids = self.ends.iter().map(|(id, _)| *id).collect();
        let filter = NodeFilter { ids: Some(ids), ..NodeFilter::default() };
        let records = writing.node_list(&filter, &List::default()).await?.items;
        let mut nodes: HashMap<NodeId, Node> = records.into_iter().map(|node| (node.id, node)).collect();
        let (mut leaving, mut reinstalled) = (BTreeSet::new(), Vec::new());
        for (id, ended) in &self.ends {
            if let Some(node) = nodes.get_mut(id) {
                let before = node.status;
                if ended.is_leaving(node) {
                    node.leave_cluster();
                    leaving.insert(*id);
                    continue;
                }
                ended.apply(node);
                if node.status != before && node.status.is_fresh() {
                    reinstalled.push(id.to_string());
                }
            }
        }
        let (leaving, staying): (Vec<Node>, Vec<Node>) =
            nodes.into_values().partition(|node| leaving.contains(&node.id));
        for node in leaving {
            writing.node_update(&node).await?;
        }
        // The graph that installed the machine is the only one that was applied to it.
        if !reinstalled.is_empty() {
            let reinstalled: Vec<&str> = reinstalled.iter().map(String::as_str).collect();
            let scope = AppliedScope::OtherGraphs(self.cluster, &self.graph_type);
            writing.applied_invalidate(&reinstalled, scope).await?;
        }
        writing.nodes_put_outcome(&staying).await
    }
}

/// Marks nodes with instances to execute as deploying and clears their errors.
pub(super) async fn mark_nodes(
    writing: &mut WriteTransaction,
    blueprint: &Blueprint,
) -> Result<(), StoreError> {
    let busy = busy(blueprint).into_iter();
    let ids: Vec<NodeId> = busy.filter_map(|node| blueprint.node(node).and_then(NodeId::parse)).collect();
    writing.nodes_start_deploying(&ids).await
}

/// Nodes with instances to execute.
fn busy(blueprint: &Blueprint) -> BTreeSet<NodeIdx> {
    let instances = InstanceIdx::first(blueprint.n_instances());
    let carried_out = instances.filter(|instance| blueprint.executor_of(*instance).is_some());
    carried_out.filter_map(|instance| blueprint.node_of(instance)).collect()
}

/// Nodes without instances to execute.
pub(super) fn bystanders(blueprint: &Blueprint) -> BTreeSet<NodeIdx> {
    let busy = busy(blueprint);
    NodeIdx::first(blueprint.n_nodes()).filter(|node| !busy.contains(node)).collect()
}

/// Updates the progress of the parent run: the average of its child runs. Never decreases it.
pub(super) async fn note_on_parent(writing: &mut WriteTransaction, part: &Run) -> Result<(), StoreError> {
    let Some(parent) = part.parent_id else { return Ok(()) };
    let Some(mut parent) = writing.run_get(parent).await? else { return Ok(()) };
    let parts = writing.run_children(parent.id).await?;
    let percent = parts.iter().map(|part| part.progress).sum::<i64>() / (parts.len() as i64).max(1);
    if percent > parent.progress {
        parent.progress = percent;
        writing.run_update(&parent).await?;
    }
    Ok(())
}

impl Ended {
    fn is_leaving(&self, node: &Node) -> bool {
        match self.status.as_deref() {
            Some("deleted") => true,
            Some(status) => self.is_removal && node.pending_deletion && status == NodeStatus::Ready.as_str(),
            None => false,
        }
    }

    fn apply(&self, node: &mut Node) {
        node.progress = 100;
        if let Some(status) = self.status.as_deref().and_then(NodeStatus::parse) {
            self.give(node, status);
        }
        if let Some(flag) = self.attributes.get("pending_addition").and_then(Json::as_bool) {
            node.pending_addition = flag;
        }
        if let Some(flag) = self.attributes.get("pending_deletion").and_then(Json::as_bool) {
            node.pending_deletion = flag;
        }
        if let Some(kind) = self.attributes.get("error_type").and_then(Json::as_str) {
            node.error_type = NodeErrorKind::parse(kind);
        }
        if let Some(message) = self.attributes.get("error_msg").and_then(Json::as_str) {
            node.error_msg = Some(message.to_owned());
        }
    }

    fn give(&self, node: &mut Node, status: NodeStatus) {
        node.settle(status);
        if status == NodeStatus::Error {
            let is_removed = self.is_removal && node.pending_deletion;
            node.error_type = Some(if is_removed { NodeErrorKind::Deletion } else { NodeErrorKind::Deploy });
            node.error_msg.clone_from(&self.message);
        }
    }
}
