//! State of one node, as the expressions of its tasks see it.

use stoker_model::{Cluster, FactsKind, JsonMap};
use stoker_state::{Secrets, DocumentInterner, StateDocument, document};
use stoker_store::Session;

use crate::error::{ServiceError, ServiceResult};
use crate::graphs::Graphs;

use super::old::Old;
use super::records::{Records, supplied};

/// Desired state of a node, and the state of the last success of a task there.
pub struct NodeStates {
    pub new: StateDocument,
    /// `None` without a task, or if it never succeeded.
    pub old: Option<StateDocument>,
    pub secrets: Secrets,
    pub n_nodes: usize,
}

impl NodeStates {
    pub async fn read(
        graphs: &Graphs,
        session: &mut Session,
        cluster: &Cluster,
        uid: &str,
        task: Option<&str>,
    ) -> ServiceResult<Self> {
        let records = Records::read(graphs, session, cluster).await?;
        let state = records.new_state();
        let supplied = supplied(session, cluster, FactsKind::Deployment).await?;
        let (common, own) = state.effective_documents(supplied).into_plan_documents();
        let node = state.nodes.iter().position(|node| node.uid == uid);
        let own: &JsonMap = node.and_then(|place| own.get(place)).ok_or_else(|| {
            ServiceError::invalid(format!("Nodes {uid} do not belong to cluster {}", cluster.id))
        })?;
        let mut secrets = Secrets::from_documents([&state.common, &common, own]);
        let mut old_state = None;
        if let Some(task) = task {
            let old = Old::read(session, cluster.id, &[task], &[uid.to_owned()]).await?;
            secrets = old.documents().fold(secrets, |all, one| all.union(Secrets::from_documents([one])));
            old_state = old.states(&[task], &mut DocumentInterner::default()).state(task, uid).cloned();
        }
        Ok(Self {
            new: StateDocument { common: document(&common), node: document(own) },
            old: old_state,
            secrets,
            n_nodes: state.nodes.len(),
        })
    }
}
