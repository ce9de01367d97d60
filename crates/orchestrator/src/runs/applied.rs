//! Applied states that the events of a run change.
//!
//! An attempt taints its task on its node in the transaction that records the dispatch, before the agent can receive
//! it. A success replaces the taint by the state of the plan. Any other end leaves the taint, even if this server
//! crashes before it records the end. A handler is tainted in the same way when it is triggered.

use std::collections::HashMap;

use stoker_engine::blueprint::Blueprint;
use stoker_engine::run::{AttemptOutcome, EngineEvent, EventKind, InstanceOutcome, Next, RunEffect};
use stoker_engine::session::ResultKind;
use stoker_model::{
    AppliedMark, AppliedSuccess, ClusterId, DocumentId, GraphType, InstanceIdx, PlanId, RunId, SnapshotId,
    TaintCause,
};
use stoker_state::InputsDigest;
use stoker_store::{StateDocument, StoreError, WriteTransaction};

/// The plan of a run, with the documents that a success refers to.
pub(super) struct AppliedPlan {
    pub(super) plan: PlanId,
    pub(super) graph_type: GraphType,
    pub(super) common_id: DocumentId,
    pub(super) graph_id: DocumentId,
    /// `None` if a server of a version without snapshots stored the plan.
    pub(super) snapshot: Option<SnapshotId>,
    /// Own documents of nodes, by UID.
    pub(super) documents: HashMap<String, DocumentId>,
}

/// Changes of applied states to write in the same transaction as the events.
#[derive(Default)]
pub(super) struct AppliedChanges {
    target: Option<Target>,
    marks: Vec<AppliedMark>,
    successes: Vec<Success>,
    /// Tasks and nodes of attempts that ended after they had been given up.
    late: Vec<(String, String)>,
}

/// A success whose inputs are not stored yet.
struct Success {
    success: AppliedSuccess,
    inputs: Option<StateDocument>,
}

/// Inputs of an instance, as recorded with its success.
pub(super) struct RecordedInputs {
    pub(super) digest: InputsDigest,
    /// `None` if its secrets are unknown and cannot be masked.
    pub(super) document: Option<StateDocument>,
}

struct Target {
    run: RunId,
    cluster: ClusterId,
    graph_type: GraphType,
    plan: PlanId,
    common_id: DocumentId,
    graph_id: DocumentId,
    snapshot: Option<SnapshotId>,
}

impl AppliedPlan {
    pub(super) fn changes(
        &self,
        run: RunId,
        cluster: ClusterId,
        blueprint: &Blueprint,
        events: &[EngineEvent],
        effects: &[RunEffect],
        inputs_of: &dyn Fn(InstanceIdx, &str) -> Option<RecordedInputs>,
    ) -> AppliedChanges {
        let mut changes = AppliedChanges::default();
        // Before the events: a handler may be triggered and dispatched in the same batch.
        for effect in effects {
            if let RunEffect::Triggered { instance } = effect {
                changes.marks.extend(self.mark(blueprint, *instance, TaintCause::Triggered));
            }
        }
        for event in events {
            self.add(blueprint, &event.kind, inputs_of, &mut changes);
        }
        if !changes.is_empty() {
            changes.target = Some(Target {
                run,
                cluster,
                graph_type: self.graph_type.clone(),
                plan: self.plan,
                common_id: self.common_id,
                graph_id: self.graph_id,
                snapshot: self.snapshot,
            });
        }
        changes
    }

    fn add(
        &self,
        blueprint: &Blueprint,
        event: &EventKind,
        inputs_of: &dyn Fn(InstanceIdx, &str) -> Option<RecordedInputs>,
        changes: &mut AppliedChanges,
    ) {
        match event {
            EventKind::Dispatched { instance, .. } => {
                changes.marks.extend(self.mark(blueprint, *instance, TaintCause::InFlight));
            }
            EventKind::AttemptEnded { instance, next: Next::Final(InstanceOutcome::Succeeded), .. } => {
                changes.successes.extend(self.success(blueprint, *instance, inputs_of));
            }
            // An attempt that is retried is marked as well: the run may stop before the retry.
            EventKind::AttemptEnded { instance, end, .. } => {
                changes.marks.extend(self.mark(blueprint, *instance, cause(end)));
            }
            EventKind::LateResult { instance, .. } => {
                let names = self.names(blueprint, *instance);
                changes.late.extend(names.map(|(task, uid)| (task.to_owned(), uid.to_owned())));
            }
            _ => {}
        }
    }

    /// Task and node of an instance; `None` for instances that belong to no node.
    fn names<'b>(&self, blueprint: &'b Blueprint, instance: InstanceIdx) -> Option<(&'b str, &'b str)> {
        blueprint.names(instance).filter(|(_, uid)| self.documents.contains_key(*uid))
    }

    fn mark(&self, blueprint: &Blueprint, instance: InstanceIdx, cause: TaintCause) -> Option<AppliedMark> {
        let (task, uid) = self.names(blueprint, instance)?;
        Some(AppliedMark { node_uid: uid.to_owned(), task_name: task.to_owned(), cause })
    }

    fn success(
        &self,
        blueprint: &Blueprint,
        instance: InstanceIdx,
        inputs_of: &dyn Fn(InstanceIdx, &str) -> Option<RecordedInputs>,
    ) -> Option<Success> {
        let (task, uid) = blueprint.names(instance)?;
        let document_id = *self.documents.get(uid)?;
        let inputs = inputs_of(instance, uid);
        let success = AppliedSuccess {
            node_uid: uid.to_owned(),
            task_name: task.to_owned(),
            document_id,
            inputs: inputs.as_ref().map(|inputs| inputs.digest.to_string()),
            inputs_id: None,
        };
        Some(Success { success, inputs: inputs.and_then(|inputs| inputs.document) })
    }
}

/// How an attempt that did not succeed taints its applied state.
fn cause(end: &AttemptOutcome) -> TaintCause {
    match end {
        AttemptOutcome::Reported(ResultKind::TimedOut) => TaintCause::TimedOut,
        AttemptOutcome::Reported(ResultKind::Cancelled) => TaintCause::Cancelled,
        AttemptOutcome::Reported(ResultKind::Interrupted) => TaintCause::Interrupted,
        AttemptOutcome::Reported(_) => TaintCause::Failed,
        AttemptOutcome::Lost | AttemptOutcome::NoResult => TaintCause::Unknown,
    }
}

impl AppliedChanges {
    fn is_empty(&self) -> bool {
        self.marks.is_empty() && self.successes.is_empty() && self.late.is_empty()
    }

    pub(super) async fn write(&self, writing: &mut WriteTransaction) -> Result<(), StoreError> {
        let Some(target) = &self.target else { return Ok(()) };
        let Target { run, cluster, graph_type, .. } = target;
        if !self.marks.is_empty() {
            writing.applied_mark(*cluster, graph_type, *run, &self.marks).await?;
        }
        if !self.successes.is_empty() {
            let snapshot = target.snapshot(writing).await?;
            let successes = self.stored_successes(writing).await?;
            writing.applied_put(*cluster, graph_type, *run, snapshot, &successes).await?;
        }
        if !self.late.is_empty() {
            writing.applied_mark_late(*cluster, graph_type, *run, &self.late).await?;
        }
        Ok(())
    }

    /// Stores the documents of inputs.
    async fn stored_successes(
        &self,
        writing: &mut WriteTransaction,
    ) -> Result<Vec<AppliedSuccess>, StoreError> {
        let documents = self.successes.iter().filter_map(|success| success.inputs.as_ref());
        let mut ids = writing.documents_put(documents.collect::<Vec<_>>()).await?.into_iter();
        let stored = self.successes.iter().map(|Success { success, inputs }| AppliedSuccess {
            inputs_id: inputs.as_ref().and_then(|_| ids.next()),
            ..success.clone()
        });
        Ok(stored.collect())
    }
}

impl Target {
    async fn snapshot(&self, writing: &mut WriteTransaction) -> Result<SnapshotId, StoreError> {
        match self.snapshot {
            Some(snapshot) => Ok(snapshot),
            None => writing.plan_snapshot_put(self.plan, self.common_id, self.graph_id, None, None).await,
        }
    }
}
