//! Applied states: with which state each task last succeeded on each node, and which of them are in doubt.

use std::collections::{HashMap, HashSet};

use stoker_model::{AppliedGroup, ClusterId, DocumentId, GraphType, JsonMap, Snapshot, SnapshotId};
use stoker_state::{Document, DocumentInterner, EffectiveState, OldStates, intern_document};
use stoker_store::Session;

use crate::error::ServiceResult;

/// Stored form: few documents shared by many tasks and nodes.
#[derive(Default)]
pub(super) struct Applied {
    groups: Vec<AppliedGroup>,
    snapshots: HashMap<SnapshotId, Snapshot>,
    documents: HashMap<DocumentId, JsonMap>,
}

impl Applied {
    pub(super) async fn read(
        session: &mut Session,
        cluster_id: ClusterId,
        graph_type: &GraphType,
        tasks: &[&str],
        uids: &[String],
    ) -> ServiceResult<Self> {
        let uids: Vec<&str> = uids.iter().map(String::as_str).collect();
        let groups = session.applied_groups(cluster_id, graph_type, tasks, &uids).await?;
        let ids: HashSet<SnapshotId> = groups.iter().filter_map(|group| group.snapshot_id).collect();
        let snapshots = session.snapshots_get(&ids.into_iter().collect::<Vec<_>>()).await?;
        let commons = snapshots.iter().map(|snapshot| snapshot.common_id);
        let ids: HashSet<DocumentId> =
            commons.chain(groups.iter().filter_map(|group| group.document_id)).collect();
        let documents = session.documents_get(&ids.into_iter().collect::<Vec<_>>()).await?;
        let snapshots = snapshots.into_iter().map(|snapshot| (snapshot.id, snapshot)).collect();
        Ok(Self { groups, snapshots, documents })
    }

    /// Returns all documents, in which secrets are searched.
    pub(super) fn documents(&self) -> impl Iterator<Item = &JsonMap> {
        self.documents.values()
    }

    /// Converts to the planner's form: the most common state of each node, and the exceptions per task. Consumes the
    /// stored form while converting, to bound the memory peak of large fleets.
    pub(super) fn states(self, tasks: &[&str], shared: &mut DocumentInterner) -> OldStates {
        let Self { groups, snapshots, documents } = self;
        let documents: HashMap<DocumentId, Document> =
            documents.into_iter().map(|(id, map)| (id, intern_document(shared, &map))).collect();
        // Without one of its documents, which a server of the previous version may have deleted, a state is unknown.
        let state = |group: &AppliedGroup| {
            if group.taint.is_some() {
                return None;
            }
            let snapshot = snapshots.get(&group.snapshot_id?)?;
            Some(EffectiveState {
                common: documents.get(&snapshot.common_id)?.clone(),
                node: documents.get(&group.document_id?)?.clone(),
            })
        };
        let mut by_node: HashMap<&str, Vec<(&AppliedGroup, EffectiveState)>> = HashMap::new();
        for group in &groups {
            let Some(state) = state(group) else { continue };
            by_node.entry(&group.node_uid).or_default().push((group, state));
        }
        let mut old = OldStates::default();
        for (uid, states) in by_node {
            let Some(usual) = (0..states.len()).max_by_key(|idx| states[*idx].0.tasks.len()) else {
                continue;
            };
            let mut known: HashSet<&str> = HashSet::new();
            for (idx, (group, state)) in states.into_iter().enumerate() {
                known.extend(group.tasks.iter().map(String::as_str));
                if idx == usual {
                    old.set_node(uid, state);
                } else {
                    old.set_tasks(group.tasks.iter().map(String::as_str), uid, Some(state));
                }
            }
            let never = tasks.iter().copied().filter(|task| !known.contains(task));
            old.set_tasks(never, uid, None);
        }
        old
    }
}
