//! Applied states: with which state each task last succeeded on each node, and which of them are in doubt.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use stoker_model::{
    AppliedGroup, AppliedInputs, ClusterId, DocumentId, DriftResult, GraphType, JsonMap, Snapshot,
    SnapshotId, TaintCause,
};
use stoker_state::{
    AppliedGraph, AppliedStates, Document, DocumentInterner, EffectiveState, GraphIdx, Settled,
    intern_document, set_status, settle_common, settle_legacy_common, settle_legacy_own,
};
use stoker_store::Session;

use crate::error::ServiceResult;

use super::ancestors::Assumed;

/// Stored form of the old states. Documents are deduplicated, because many tasks and nodes share them.
#[derive(Default)]
pub(super) struct Applied {
    groups: Vec<AppliedGroup>,
    snapshots: HashMap<SnapshotId, Snapshot>,
    /// Common and own documents, with the statuses before their run.
    documents: HashMap<DocumentId, JsonMap>,
    /// Graphs, sources and statuses after the run.
    definitions: HashMap<DocumentId, JsonMap>,
    inputs: Vec<AppliedInputs>,
    /// Drift that plans repair.
    drift: Vec<DriftResult>,
    assumed: Assumed,
}

/// The new state, from which documents of earlier versions take what they lack.
pub(super) struct NewDocuments<'a> {
    pub(super) common: &'a JsonMap,
    /// By node uid.
    pub(super) own: HashMap<&'a str, &'a JsonMap>,
}

impl Applied {
    pub(super) async fn read(
        session: &mut Session,
        cluster_id: ClusterId,
        graph_type: &GraphType,
        tasks: &[&str],
        uids: &[String],
        assumed: Assumed,
    ) -> ServiceResult<Self> {
        let uids: Vec<&str> = uids.iter().map(String::as_str).collect();
        let mut groups = session.applied_groups(cluster_id, graph_type, tasks, &uids).await?;
        assumed.replace(&mut groups);
        let ids: HashSet<SnapshotId> = groups.iter().filter_map(|group| group.snapshot_id).collect();
        let snapshots = session.snapshots_get(&ids.into_iter().collect::<Vec<_>>()).await?;
        let commons = snapshots.iter().map(|snapshot| snapshot.common_id);
        let ids: HashSet<DocumentId> =
            commons.chain(groups.iter().filter_map(|group| group.document_id)).collect();
        let documents = session.documents_get(&ids.into_iter().collect::<Vec<_>>()).await?;
        let ids: HashSet<DocumentId> = snapshots
            .iter()
            .flat_map(|snapshot| [snapshot.graph_id, snapshot.sources_id, snapshot.settled_id])
            .flatten()
            .collect();
        let definitions = session.documents_get(&ids.into_iter().collect::<Vec<_>>()).await?;
        let snapshots = snapshots.into_iter().map(|snapshot| (snapshot.id, snapshot)).collect();
        let drift = session.drift_repairs(cluster_id, graph_type).await?;
        Ok(Self { groups, snapshots, documents, definitions, inputs: Vec::new(), drift, assumed })
    }

    /// Reads the fingerprints of inputs too, for tasks that compare them.
    pub(super) async fn read_inputs(
        &mut self,
        session: &mut Session,
        cluster_id: ClusterId,
        graph_type: &GraphType,
        tasks: &[&str],
    ) -> ServiceResult<()> {
        self.inputs = session.applied_inputs(cluster_id, graph_type, tasks).await?;
        Ok(())
    }

    /// Returns all state documents, in which secrets are searched.
    pub(super) fn documents(&self) -> impl Iterator<Item = &JsonMap> {
        self.documents.values()
    }

    /// Converts to the planner's form: the most common state of each node, and the exceptions per task.
    pub(super) fn states(
        self,
        tasks: &[&str],
        new: &NewDocuments<'_>,
        shared: &mut DocumentInterner,
    ) -> AppliedStates {
        let mut applied = AppliedStates::default();
        let mut converter = Converter {
            snapshots: &self.snapshots,
            documents: &self.documents,
            definitions: &self.definitions,
            new,
            shared,
            settled: HashMap::new(),
            commons: HashMap::new(),
            graphs: HashMap::new(),
        };
        for applied_inputs in &self.inputs {
            let digest = applied_inputs.inputs.as_deref().and_then(|text| text.parse().ok());
            let Some(digest) = digest else { continue };
            let task = &applied_inputs.task_name;
            for uid in applied_inputs.nodes.iter().filter(|uid| !self.assumed.runs(task, uid)) {
                applied.set_inputs(&applied_inputs.task_name, uid, digest);
            }
        }
        let mut by_node: HashMap<&str, Vec<(&AppliedGroup, State)>> = HashMap::new();
        for group in &self.groups {
            if let (Some(cause), Some(run)) = (group.taint, group.tainted_by) {
                for task in &group.tasks {
                    applied.set_taint(task, &group.node_uid, cause, run.0);
                }
            }
            if let Some(state) = converter.state(group, &mut applied) {
                by_node.entry(&group.node_uid).or_default().push((group, state));
            }
        }
        for drift in &self.drift {
            if !self.assumed.runs(&drift.task_name, &drift.node_uid) {
                let run = drift.run_id.0;
                applied.set_taint(&drift.task_name, &drift.node_uid, TaintCause::Drifted, run);
            }
        }
        for (uid, states) in by_node {
            let usual = (0..states.len()).max_by_key(|idx| states[*idx].0.tasks.len());
            let mut task_names: HashSet<&str> = HashSet::new();
            for (idx, (group, state)) in states.into_iter().enumerate() {
                task_names.extend(group.tasks.iter().map(String::as_str));
                if Some(idx) == usual {
                    applied.set_node(uid, state.0, state.1);
                } else {
                    applied.set_tasks(group.tasks.iter().map(String::as_str), uid, Some(state));
                }
            }
            let never = tasks.iter().copied().filter(|task| !task_names.contains(task));
            applied.set_tasks(never, uid, None);
        }
        applied
    }
}

/// A state and the graph that it was applied with.
type State = (EffectiveState, Option<GraphIdx>);

/// Converts the states of groups; documents that groups share are converted once.
struct Converter<'a> {
    snapshots: &'a HashMap<SnapshotId, Snapshot>,
    documents: &'a HashMap<DocumentId, JsonMap>,
    definitions: &'a HashMap<DocumentId, JsonMap>,
    new: &'a NewDocuments<'a>,
    shared: &'a mut DocumentInterner,
    settled: HashMap<DocumentId, Arc<SettledNodes>>,
    commons: HashMap<(DocumentId, Option<DocumentId>), Document>,
    graphs: HashMap<(DocumentId, Option<DocumentId>), GraphIdx>,
}

/// Statuses after a run, with those of nodes by uid: a list of ten thousand nodes would be searched for each of them.
struct SettledNodes {
    settled: Settled,
    status: HashMap<String, String>,
}

impl Converter<'_> {
    /// Without one of its documents, which a server of the previous version may have deleted, a state is unknown.
    fn state(&mut self, group: &AppliedGroup, applied: &mut AppliedStates) -> Option<State> {
        let snapshot = self.snapshots.get(&group.snapshot_id?)?;
        let own = self.documents.get(&group.document_id?)?;
        let settled = snapshot.settled_id.and_then(|id| self.settled(id));
        let common = self.common(snapshot, settled.as_deref())?;
        let node = self.own(own, &group.node_uid, settled.as_deref());
        Some((EffectiveState { common, node }, self.graph(snapshot, applied)))
    }

    fn settled(&mut self, id: DocumentId) -> Option<Arc<SettledNodes>> {
        if let Some(settled) = self.settled.get(&id) {
            return Some(Arc::clone(settled));
        }
        let settled = Settled::from_document(self.definitions.get(&id)?);
        let by_uid = settled.by_uid().into_iter();
        let status = by_uid.map(|(uid, status)| (uid.to_owned(), status.to_owned())).collect();
        let settled = Arc::new(SettledNodes { settled, status });
        self.settled.insert(id, Arc::clone(&settled));
        Some(settled)
    }

    fn common(&mut self, snapshot: &Snapshot, settled: Option<&SettledNodes>) -> Option<Document> {
        let key = (snapshot.common_id, snapshot.settled_id);
        if let Some(document) = self.commons.get(&key) {
            return Some(document.clone());
        }
        let mut common = self.documents.get(&snapshot.common_id)?.clone();
        match settled {
            Some(settled) => settle_common(&mut common, &settled.settled),
            None => settle_legacy_common(&mut common, self.new.common),
        }
        let document = intern_document(self.shared, &common);
        self.commons.insert(key, document.clone());
        Some(document)
    }

    fn own(&mut self, own: &JsonMap, uid: &str, settled: Option<&SettledNodes>) -> Document {
        let mut own = own.clone();
        match settled {
            Some(settled) => {
                if let Some(status) = settled.status.get(uid) {
                    set_status(&mut own, status);
                }
            }
            None => {
                if let Some(new) = self.new.own.get(uid) {
                    settle_legacy_own(&mut own, new);
                }
            }
        }
        intern_document(self.shared, &own)
    }

    fn graph(&mut self, snapshot: &Snapshot, applied: &mut AppliedStates) -> Option<GraphIdx> {
        let id = snapshot.graph_id?;
        let key = (id, snapshot.sources_id);
        if let Some(graph) = self.graphs.get(&key) {
            return Some(*graph);
        }
        let sources = snapshot.sources_id.and_then(|id| self.definitions.get(&id));
        let graph = AppliedGraph::from_documents(self.definitions.get(&id)?.clone(), sources);
        let graph = applied.add_graph(Arc::new(graph));
        self.graphs.insert(key, graph);
        Some(graph)
    }
}
