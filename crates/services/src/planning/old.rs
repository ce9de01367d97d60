//! State of the last success of each task on each node.

use std::collections::{HashMap, HashSet};

use stoker_model::{ClusterId, DocumentId, JsonMap, Node, NodeStatus, SuccessGroup};
use stoker_state::{Document, DocumentInterner, EffectiveState, OldStates, intern_document};
use stoker_store::Session;

use crate::error::ServiceResult;

/// Stored form of the old states. Documents are deduplicated, because many tasks and nodes share them.
#[derive(Default)]
pub(super) struct Old {
    pasts: Vec<SuccessGroup>,
    documents: HashMap<DocumentId, JsonMap>,
}

/// Reports whether earlier successes on a node still count. A newly discovered or provisioned machine has none.
pub(super) fn has_past(node: &Node) -> bool {
    let is_fresh = matches!(
        node.status,
        NodeStatus::Discover | NodeStatus::Provisioning | NodeStatus::Provisioned | NodeStatus::Removing
    );
    !node.pending_addition && !is_fresh
}

impl Old {
    pub(super) async fn read(
        session: &mut Session,
        cluster_id: ClusterId,
        tasks: &[&str],
        uids: &[String],
    ) -> ServiceResult<Self> {
        let uids: Vec<&str> = uids.iter().map(String::as_str).collect();
        let pasts = session.last_successful_states(cluster_id, tasks, &uids).await?;
        let ids: HashSet<DocumentId> =
            pasts.iter().flat_map(|past| [past.common_id, past.document_id]).collect();
        let documents = session.documents_get(&ids.into_iter().collect::<Vec<_>>()).await?;
        Ok(Self { pasts, documents })
    }

    /// Returns all documents, in which secrets are searched.
    pub(super) fn documents(&self) -> impl Iterator<Item = &JsonMap> {
        self.documents.values()
    }

    /// Converts to the planner's form: the most common state of each node, and the exceptions per task. Consumes the
    /// stored form while converting, to bound the memory peak of large fleets.
    pub(super) fn states(self, tasks: &[&str], shared: &mut DocumentInterner) -> OldStates {
        let documents = self.documents.into_iter();
        let documents: HashMap<DocumentId, Document> =
            documents.map(|(id, map)| (id, intern_document(shared, &map))).collect();
        let state = |past: &SuccessGroup| EffectiveState {
            common: documents.get(&past.common_id).cloned().unwrap_or_default(),
            node: documents.get(&past.document_id).cloned().unwrap_or_default(),
        };
        let mut by_node: HashMap<&str, Vec<&SuccessGroup>> = HashMap::new();
        for past in &self.pasts {
            by_node.entry(&past.node_uid).or_default().push(past);
        }
        let mut old = OldStates::default();
        for (uid, pasts) in by_node {
            let Some(usual) = pasts.iter().max_by_key(|past| past.tasks.len()) else { continue };
            old.set_node(uid, state(usual));
            for past in pasts.iter().filter(|past| *past != usual) {
                old.set_tasks(past.tasks.iter().map(String::as_str), uid, Some(state(past)));
            }
            let known: HashSet<&str> =
                pasts.iter().flat_map(|past| &past.tasks).map(String::as_str).collect();
            let never = tasks.iter().copied().filter(|task| !known.contains(task));
            old.set_tasks(never, uid, None);
        }
        old
    }
}
