//! Random marks, successes, late results and invalidations: the rows agree with the rules without a database.

use std::collections::BTreeMap;

use stoker_model::{
    AppliedMark, AppliedSuccess, ClusterId, DocumentId, GraphType, RunId, SnapshotId, TaintCause,
};
use stoker_state::{AppliedLedger, LedgerScope, LedgerSuccess};
use stoker_store::{AppliedScope, Session};

use crate::fixture::{Fixture, cluster, commit, graph_type};

const N_STEPS: u64 = 300;
const TASKS: &[&str] = &["a", "b"];
const NODES: &[&str] = &["1", "master"];
const CAUSES: &[TaintCause] =
    &[TaintCause::InFlight, TaintCause::Failed, TaintCause::TimedOut, TaintCause::Unknown];

/// Seeded pseudo-random numbers.
struct SeededRng(u64);

impl SeededRng {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

/// Snapshot, document, and taint.
type Row = (Option<i64>, Option<i64>, Option<(i64, TaintCause)>);
/// Inputs and their document.
type Inputs = (Option<String>, Option<i64>);

async fn rows(
    session: &mut Session,
    cluster: ClusterId,
    kind: &GraphType,
) -> BTreeMap<(String, String), (Row, Inputs)> {
    let mut inputs: BTreeMap<(String, String), Inputs> = BTreeMap::new();
    for applied in session.applied_inputs(cluster, kind, TASKS).await.unwrap() {
        for uid in applied.nodes {
            let value = (applied.inputs.clone(), applied.inputs_id.map(|id| id.0));
            inputs.insert((uid, applied.task_name.clone()), value);
        }
    }
    let mut rows = BTreeMap::new();
    for group in session.applied_groups(cluster, kind, TASKS, NODES).await.unwrap() {
        let taint = group.tainted_by.map(|run| run.0).zip(group.taint);
        let row: Row = (group.snapshot_id.map(|id| id.0), group.document_id.map(|id| id.0), taint);
        for task in group.tasks {
            let key = (group.node_uid.clone(), task);
            let inputs = inputs.remove(&key).unwrap_or_default();
            rows.insert(key, (row, inputs));
        }
    }
    rows
}

fn expected(ledger: &AppliedLedger, kind: &GraphType) -> BTreeMap<(String, String), (Row, Inputs)> {
    let entries = ledger.entries(kind.as_str()).map(|(uid, task, entry)| {
        let success = entry.success.as_ref();
        let row: Row =
            (success.map(|success| success.snapshot), success.map(|success| success.document), entry.taint);
        let inputs = success.map(|success| (Some(success.inputs.clone()), Some(success.inputs_document)));
        ((uid.to_owned(), task.to_owned()), (row, inputs.unwrap_or_default()))
    });
    entries.collect()
}

async fn rows_agree_with_the_ledger(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let cluster = cluster(&mut writing, "random").await.id;
    commit(writing).await;
    let kinds = [graph_type("default"), graph_type("other")];
    let (mut rng, mut ledger) = (SeededRng(1), AppliedLedger::default());
    for step in 0..N_STEPS {
        let kind = &kinds[rng.below(kinds.len())];
        let (task, uid, run) = (rng.pick(TASKS), rng.pick(NODES), 1 + rng.below(3) as i64);
        let mut writing = fixture.change().await;
        match rng.below(8) {
            0..=2 => {
                let cause = rng.pick(CAUSES);
                ledger.mark(kind.as_str(), uid, task, run, cause);
                let mark = AppliedMark { node_uid: uid.to_owned(), task_name: task.to_owned(), cause };
                writing.applied_mark(cluster, kind, RunId(run), &[mark]).await.unwrap();
            }
            3..=5 => {
                let id = step as i64 + 1;
                let success = LedgerSuccess {
                    snapshot: id,
                    document: id + 1,
                    inputs: format!("{step:032x}"),
                    inputs_document: id + 2,
                };
                let successes = [AppliedSuccess {
                    node_uid: uid.to_owned(),
                    task_name: task.to_owned(),
                    document_id: DocumentId(success.document),
                    inputs: Some(success.inputs.clone()),
                    inputs_id: Some(DocumentId(success.inputs_document)),
                }];
                let is_recorded = ledger.succeed(kind.as_str(), uid, task, run, success);
                let n_rows =
                    writing.applied_put(cluster, kind, RunId(run), SnapshotId(id), &successes).await.unwrap();
                assert_eq!(n_rows, usize::from(is_recorded), "step {step}");
            }
            6 => {
                ledger.mark_late(kind.as_str(), uid, task, run);
                let instance = (task.to_owned(), uid.to_owned());
                writing.applied_mark_late(cluster, kind, RunId(run), &[instance]).await.unwrap();
            }
            _ => {
                let scopes = [
                    (LedgerScope::All, AppliedScope::Everywhere),
                    (LedgerScope::All, AppliedScope::InCluster(cluster)),
                    (LedgerScope::Except(kind.as_str()), AppliedScope::OtherGraphs(cluster, kind)),
                ];
                let (in_ledger, in_store) = scopes[rng.below(scopes.len())];
                let n_removed = ledger.invalidate(&[uid], in_ledger);
                let n_rows = writing.applied_invalidate(&[uid], in_store).await.unwrap();
                assert_eq!(n_rows, n_removed as u64, "step {step}");
            }
        }
        commit(writing).await;
        let mut session = fixture.read().await;
        for kind in &kinds {
            assert_eq!(rows(&mut session, cluster, kind).await, expected(&ledger, kind), "step {step}");
        }
    }
}

on_both![rows_agree_with_the_ledger];
