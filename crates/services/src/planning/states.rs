//! State of one node, as the expressions of its tasks see it.

use std::collections::HashMap;

use stoker_model::{Cluster, FactsKind, GraphType, JsonMap};
use stoker_state::{DocumentInterner, EffectiveState, Secrets, document};
use stoker_store::Session;

use crate::error::{ServiceError, ServiceResult};
use crate::graphs::Graphs;

use super::ancestors::Assumed;
use super::old::{Applied, NewDocuments};
use super::records::{Records, supplied};

/// Desired state of a node, and the applied state of a task there.
pub struct NodeStates {
    pub new: EffectiveState,
    /// `None` without a task, if it never succeeded, or if a later attempt did not succeed.
    pub old: Option<EffectiveState>,
    pub secrets: Secrets,
    pub n_nodes: usize,
}

impl NodeStates {
    pub async fn read(
        graphs: &Graphs,
        session: &mut Session,
        cluster: &Cluster,
        uid: &str,
        task: Option<(&GraphType, &str)>,
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
        if let Some((graph_type, task)) = task {
            let old = Applied::read(
                session,
                cluster.id,
                graph_type,
                &[task],
                &[uid.to_owned()],
                Assumed::default(),
            )
            .await?;
            secrets = old.documents().fold(secrets, |all, one| all.union(Secrets::from_documents([one])));
            let new = NewDocuments { common: &common, own: HashMap::from([(uid, own)]) };
            let states = old.states(&[task], &new, &mut DocumentInterner::default());
            let is_tainted = states.past(uid).is_some_and(|past| past.taints.contains_key(task));
            old_state = states.state(task, uid).filter(|_| !is_tainted).cloned();
        }
        Ok(Self {
            new: EffectiveState { common: document(&common), node: document(own) },
            old: old_state,
            secrets,
            n_nodes: state.nodes.len(),
        })
    }
}
