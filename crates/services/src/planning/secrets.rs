//! Secrets of a plan, for redaction.

use std::collections::{BTreeSet, HashMap};

use stoker_model::{ClusterId, DocumentId, Json, PlanRecord};
use stoker_state::Secrets;
use stoker_store::{List, Session, SortOrder};

use crate::error::ServiceResult;

/// Node documents read per batch; reading those of a whole fleet would need more memory than its plan.
const BATCH_NODES: usize = 200;

/// Secret values of a state: shared by all nodes, and per node.
pub struct PlanSecrets {
    common: Secrets,
    /// Per-node secrets by UID; nodes without such secrets are absent.
    own: HashMap<String, Secrets>,
}

impl PlanSecrets {
    /// Reads the secrets of the state behind a plan that may appear in data about `nodes`.
    pub async fn read(
        session: &mut Session,
        record: &PlanRecord,
        nodes: &BTreeSet<String>,
    ) -> ServiceResult<Self> {
        let mut secrets = Self { common: secrets_of(session, record.common_id).await?, own: HashMap::new() };
        if nodes.is_empty() {
            return Ok(secrets);
        }
        let mut documents_of_nodes = session.plan_nodes(record.id).await?;
        documents_of_nodes.retain(|(uid, _)| nodes.contains(uid));
        for batch in documents_of_nodes.chunks(BATCH_NODES) {
            let ids: Vec<DocumentId> = batch.iter().map(|(_, id)| *id).collect();
            let documents = session.documents_get(&ids).await?;
            for (uid, id) in batch {
                let own = Secrets::from_documents(documents.get(id));
                if !own.is_empty() {
                    secrets.own.insert(uid.clone(), own);
                }
            }
        }
        Ok(secrets)
    }

    /// Reports whether a node has secrets of its own.
    pub fn has_node_secrets(&self, node: &str) -> bool {
        self.own.contains_key(node)
    }

    /// Masks secrets in data about a node.
    pub fn mask(&self, node: &str, value: &mut Json) {
        self.common.mask(value);
        if let Some(own) = self.own.get(node) {
            own.mask(value);
        }
    }

    /// Merges shared and per-node secrets.
    pub fn union(self) -> Secrets {
        self.own.into_values().fold(self.common, Secrets::union)
    }
}

/// Returns the secrets shared by all nodes.
async fn secrets_of(session: &mut Session, common: DocumentId) -> ServiceResult<Secrets> {
    Ok(Secrets::from_documents(session.documents_get(&[common]).await?.values()))
}

/// Number of recent plans whose secrets are masked.
const RECENT_MAX: u64 = 10;

/// Returns shared secrets of this and recent states. Tasks print diffs of old and new values, so old secrets are
/// masked too.
pub async fn recent_secrets(
    session: &mut Session,
    cluster: ClusterId,
    common: Option<DocumentId>,
) -> ServiceResult<Secrets> {
    let newest = SortOrder { field: "id".to_owned(), descending: true };
    let list = List { limit: Some(RECENT_MAX), order_by: vec![newest], ..List::default() };
    let plans = session.plan_list(cluster, &list).await?;
    let ids: BTreeSet<DocumentId> = plans.items.iter().map(|plan| plan.common_id).chain(common).collect();
    let ids: Vec<DocumentId> = ids.into_iter().collect();
    Ok(Secrets::from_documents(session.documents_get(&ids).await?.values()))
}
