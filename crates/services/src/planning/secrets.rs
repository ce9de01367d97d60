//! What must not be shown of a plan.

use std::collections::{BTreeSet, HashMap};

use stoker_model::{ClusterId, DocumentId, Json, PlanRecord};
use stoker_state::Secrets;
use stoker_store::{List, Order, Session};

use crate::error::ServiceResult;

/// Documents of so many nodes are read at a time: a fleet's together would take more memory than its plan.
const READ_AT_ONCE: usize = 200;

/// Values of a state that must not be shown: those that all nodes have in common, and those of single nodes.
pub struct PlanSecrets {
    common: Secrets,
    /// By uid, where there are any.
    own: HashMap<String, Secrets>,
}

impl PlanSecrets {
    /// Those of the state that a plan was made from, as far as they can be in what is said about some nodes.
    pub async fn read(
        session: &mut Session,
        record: &PlanRecord,
        nodes: &BTreeSet<String>,
    ) -> ServiceResult<Self> {
        let mut secrets = Self { common: secrets_of(session, record.common_id).await?, own: HashMap::new() };
        if nodes.is_empty() {
            return Ok(secrets);
        }
        let mut wanted = session.plan_nodes(record.id).await?;
        wanted.retain(|(uid, _)| nodes.contains(uid));
        for some in wanted.chunks(READ_AT_ONCE) {
            let ids: Vec<DocumentId> = some.iter().map(|(_, id)| *id).collect();
            let documents = session.documents_get(&ids).await?;
            for (uid, id) in some {
                let found = Secrets::of(documents.get(id));
                if !found.is_empty() {
                    secrets.own.insert(uid.clone(), found);
                }
            }
        }
        Ok(secrets)
    }

    /// Whether a node has secrets that others have not.
    pub fn has_own(&self, node: &str) -> bool {
        self.own.contains_key(node)
    }

    /// Masks what is said about a node.
    pub fn mask(&self, node: &str, value: &mut Json) {
        self.common.mask(value);
        if let Some(own) = self.own.get(node) {
            own.mask(value);
        }
    }

    /// All of them as one.
    pub fn together(self) -> Secrets {
        self.own.into_values().fold(self.common, Secrets::with)
    }
}

/// Values that all nodes have in common and that must not be shown.
async fn secrets_of(session: &mut Session, common: DocumentId) -> ServiceResult<Secrets> {
    Ok(Secrets::of(session.documents_get(&[common]).await?.values()))
}

/// Plans of a cluster whose secrets are remembered.
const RECENT_MAX: u64 = 10;

/// The same of the state before, too: what is on a node is shown by tasks that compare it with what is to become of it.
pub async fn recent_secrets(
    session: &mut Session,
    cluster: ClusterId,
    common: DocumentId,
) -> ServiceResult<Secrets> {
    let newest = Order { field: "id".to_owned(), descending: true };
    let list = List { limit: Some(RECENT_MAX), order_by: vec![newest], ..List::default() };
    let plans = session.plan_list(cluster, &list).await?;
    let ids: BTreeSet<DocumentId> = plans.items.iter().map(|plan| plan.common_id).chain([common]).collect();
    let ids: Vec<DocumentId> = ids.into_iter().collect();
    Ok(Secrets::of(session.documents_get(&ids).await?.values()))
}
