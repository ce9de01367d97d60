//! Plans that run before this one: earlier graphs of a sequence, or the graph `deletion`. Planning assumes that they
//! succeed.

use std::collections::{HashMap, HashSet};

use stoker_model::{AppliedGroup, DocumentId, GraphType, Node, NodeStatus, PlanId, PlanRecord, SnapshotId};
use stoker_planner::InstanceAction;
use stoker_state::Settled;
use stoker_store::Session;

use crate::error::{ServiceError, ServiceResult};

use super::Planning;
use super::stored::StoredPlan;

/// Maximum length of that chain: 100 graphs per run, plus `deletion`.
const CHAIN_MAX: usize = 101;

/// Reads the plans that are applied before a plan, in the order in which they are applied.
pub async fn ancestors(session: &mut Session, parent: Option<PlanId>) -> ServiceResult<Vec<PlanRecord>> {
    let mut chain = Vec::new();
    let mut next = parent;
    while let Some(id) = next
        && chain.len() < CHAIN_MAX
    {
        let record = session.plan_get(id).await?.ok_or_else(|| ServiceError::not_found("Plan"))?;
        next = record.parent_id;
        chain.push(record);
    }
    chain.reverse();
    Ok(chain)
}

/// What changes if the ancestors of a plan succeed.
#[derive(Default)]
pub(super) struct Assumed {
    settled: Vec<Settled>,
    /// Successes of the same graph type, in order.
    successes: Vec<AssumedSuccesses>,
}

struct AssumedSuccesses {
    snapshot_id: SnapshotId,
    /// Own documents by node UID.
    documents: HashMap<String, DocumentId>,
    /// Tasks that run, by node UID.
    tasks: HashMap<String, HashSet<String>>,
}

impl Assumed {
    pub(super) async fn read(
        planning: &Planning,
        session: &mut Session,
        parent: Option<PlanId>,
        graph_type: &GraphType,
    ) -> ServiceResult<Self> {
        let mut assumed = Self::default();
        for record in ancestors(session, parent).await? {
            let Some(snapshot) = session.plan_snapshot(record.id).await? else { continue };
            if let Some(id) = snapshot.settled_id {
                let documents = session.documents_get(&[id]).await?;
                assumed.settled.extend(documents.get(&id).map(Settled::from_document));
            }
            if record.graph_type == *graph_type {
                let documents = session.plan_nodes(record.id).await?.into_iter().collect();
                let stored = StoredPlan::read(planning, session, record).await?;
                let mut tasks: HashMap<String, HashSet<String>> = HashMap::new();
                let instances = stored.explained.plan.instances();
                for instance in instances.filter(|instance| instance.verdict.action() == InstanceAction::Run)
                {
                    tasks.entry(instance.node.to_owned()).or_default().insert(instance.task.to_owned());
                }
                assumed.successes.push(AssumedSuccesses { snapshot_id: snapshot.id, documents, tasks });
            }
        }
        Ok(assumed)
    }

    /// Gives nodes their statuses after the ancestors; nodes that leave the cluster are removed.
    pub(super) fn settle(&self, nodes: &mut Vec<Node>) {
        for settled in &self.settled {
            let gone: HashSet<&str> = settled.gone.iter().map(String::as_str).collect();
            nodes.retain(|node| !gone.contains(node.id.to_string().as_str()));
            let by_uid = settled.by_uid();
            for node in nodes.iter_mut() {
                let status = by_uid.get(node.id.to_string().as_str());
                if let Some(status) = status.and_then(|status| NodeStatus::parse(status)) {
                    node.settle(status);
                }
            }
        }
    }

    /// Replaces the applied states of tasks that ancestors run.
    pub(super) fn replace(&self, groups: &mut Vec<AppliedGroup>) {
        for successes in &self.successes {
            for group in groups.iter_mut() {
                if let Some(tasks) = successes.tasks.get(&group.node_uid) {
                    group.tasks.retain(|task| !tasks.contains(task));
                }
            }
            groups.retain(|group| !group.tasks.is_empty());
            for (node_uid, tasks) in &successes.tasks {
                let mut tasks: Vec<String> = tasks.iter().cloned().collect();
                tasks.sort_unstable();
                groups.push(AppliedGroup {
                    node_uid: node_uid.clone(),
                    snapshot_id: Some(successes.snapshot_id),
                    document_id: successes.documents.get(node_uid).copied(),
                    tainted_by: None,
                    taint: None,
                    tasks,
                });
            }
        }
    }

    /// Whether an ancestor runs the task on the node, so that recorded inputs are out of date.
    pub(super) fn runs(&self, task: &str, node_uid: &str) -> bool {
        let mut tasks = self.successes.iter().filter_map(|successes| successes.tasks.get(node_uid));
        tasks.any(|tasks| tasks.contains(task))
    }
}
