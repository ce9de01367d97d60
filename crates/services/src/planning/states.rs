//! The state of one node, as expressions of its tasks see it.

use stoker_model::{Cluster, FactsKind, JsonMap};
use stoker_planner::state::{Shared, State};
use stoker_state::{Secrets, document};
use stoker_store::Session;

use crate::error::{ServiceError, ServiceResult};
use crate::graphs::Graphs;

use super::old::Old;
use super::records::{Records, supplied};

/// What a node should become, and what it was when a task last succeeded there.
pub struct NodeStates {
    pub new: State,
    /// None without a task, or where it never succeeded.
    pub old: Option<State>,
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
        let (common, own) = state.with_supplied(supplied).for_plan();
        let node = state.nodes.iter().position(|node| node.uid == uid);
        let own: &JsonMap = node.and_then(|place| own.get(place)).ok_or_else(|| {
            ServiceError::invalid(format!("Nodes {uid} do not belong to cluster {}", cluster.id))
        })?;
        let mut secrets = Secrets::of([&state.common, &common, own]);
        let mut past = None;
        if let Some(task) = task {
            let old = Old::read(session, cluster.id, &[task], &[uid.to_owned()]).await?;
            secrets = old.documents().fold(secrets, |all, one| all.with(Secrets::of([one])));
            past = old.states(&[task], &mut Shared::default()).state(task, uid).cloned();
        }
        Ok(Self {
            new: State { common: document(&common), node: document(own) },
            old: past,
            secrets,
            n_nodes: state.nodes.len(),
        })
    }
}
