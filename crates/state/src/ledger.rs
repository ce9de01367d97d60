//! The rules by which applied states are recorded, without a database: the simulator uses them, and the
//! conformance test of the store compares itself with them.

use std::collections::BTreeMap;

use stoker_model::TaintCause;

/// The applied states of one cluster, by graph type, node and task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AppliedLedger(BTreeMap<(String, String, String), LedgerEntry>);

/// What is recorded about a task on a node. Without a success the task never succeeded there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LedgerEntry {
    pub success: Option<LedgerSuccess>,
    /// The run that succeeded last.
    pub run: Option<i64>,
    /// The run of an attempt that has not succeeded, and how it ended.
    pub taint: Option<(i64, TaintCause)>,
}

/// Ids of what an attempt succeeded with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerSuccess {
    pub snapshot: i64,
    pub document: i64,
    pub inputs: String,
    pub inputs_document: i64,
}

/// The graph types that an invalidation affects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LedgerScope<'a> {
    All,
    /// All except the type of the running graph: its own successes describe the node as it is now.
    Except(&'a str),
}

impl AppliedLedger {
    /// Marks an attempt that has not succeeded; replaces an earlier mark.
    pub fn mark(&mut self, graph_type: &str, node: &str, task: &str, run: i64, cause: TaintCause) {
        self.0.entry(key(graph_type, node, task)).or_default().taint = Some((run, cause));
    }

    /// Marks a result that arrived after its run had given up on it. It matters only if a stale process may have
    /// overwritten a newer success, that of a retry in the same run included, or if the state is tainted anyway.
    pub fn mark_late(&mut self, graph_type: &str, node: &str, task: &str, run: i64) {
        if let Some(entry) = self.0.get_mut(&key(graph_type, node, task))
            && (entry.taint.is_some() || entry.run.is_some_and(|last| last >= run))
        {
            entry.taint = Some((run, TaintCause::Unknown));
        }
    }

    /// Records a success, if this run marked the attempt and no invalidation removed the mark: a result of a replaced
    /// machine is fenced off. Returns whether it was recorded.
    pub fn succeed(
        &mut self,
        graph_type: &str,
        node: &str,
        task: &str,
        run: i64,
        success: LedgerSuccess,
    ) -> bool {
        match self.0.get_mut(&key(graph_type, node, task)) {
            Some(entry) if entry.taint.is_some_and(|(marked_by, _)| marked_by == run) => {
                *entry = LedgerEntry { success: Some(success), run: Some(run), taint: None };
                true
            }
            _ => false,
        }
    }

    /// Removes the applied states of nodes; returns their number.
    pub fn invalidate(&mut self, nodes: &[&str], scope: LedgerScope<'_>) -> usize {
        let n_before = self.0.len();
        self.0.retain(|(graph_type, node, _), _| {
            let is_in_scope = match scope {
                LedgerScope::All => true,
                LedgerScope::Except(running) => graph_type != running,
            };
            !(is_in_scope && nodes.contains(&node.as_str()))
        });
        n_before - self.0.len()
    }

    /// The entries of a graph type as (node, task, entry), sorted.
    pub fn entries<'l>(
        &'l self,
        graph_type: &'l str,
    ) -> impl Iterator<Item = (&'l str, &'l str, &'l LedgerEntry)> {
        let of_type = self.0.iter().filter(move |((entry_type, ..), _)| entry_type == graph_type);
        of_type.map(|((_, node, task), entry)| (node.as_str(), task.as_str(), entry))
    }

    pub fn get(&self, graph_type: &str, node: &str, task: &str) -> Option<&LedgerEntry> {
        self.0.get(&key(graph_type, node, task))
    }
}

fn key(graph_type: &str, node: &str, task: &str) -> (String, String, String) {
    (graph_type.to_owned(), node.to_owned(), task.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULT: &str = "default";

    fn success(snapshot: i64) -> LedgerSuccess {
        LedgerSuccess { snapshot, document: 2, inputs: "00".to_owned(), inputs_document: 3 }
    }

    #[test]
    fn a_success_needs_the_mark_of_its_run() {
        let mut ledger = AppliedLedger::default();
        assert!(!ledger.succeed(DEFAULT, "1", "a", 5, success(1)));
        ledger.mark(DEFAULT, "1", "a", 5, TaintCause::InFlight);
        assert!(!ledger.succeed(DEFAULT, "1", "a", 4, success(1)));
        assert!(!ledger.succeed("other", "1", "a", 5, success(1)));
        assert!(ledger.succeed(DEFAULT, "1", "a", 5, success(1)));
        let entry = ledger.get(DEFAULT, "1", "a").unwrap();
        assert_eq!((entry.success.clone(), entry.run, entry.taint), (Some(success(1)), Some(5), None));
    }

    #[test]
    fn a_failure_keeps_the_last_success() {
        let mut ledger = AppliedLedger::default();
        ledger.mark(DEFAULT, "1", "a", 5, TaintCause::InFlight);
        ledger.succeed(DEFAULT, "1", "a", 5, success(1));
        ledger.mark(DEFAULT, "1", "a", 6, TaintCause::InFlight);
        ledger.mark(DEFAULT, "1", "a", 6, TaintCause::Failed);
        let entry = ledger.get(DEFAULT, "1", "a").unwrap();
        assert_eq!((entry.success.clone(), entry.taint), (Some(success(1)), Some((6, TaintCause::Failed))));
    }

    #[test]
    fn results_after_an_invalidation_are_fenced_off() {
        let mut ledger = AppliedLedger::default();
        for (graph_type, node) in [(DEFAULT, "1"), (DEFAULT, "2"), ("other", "1")] {
            ledger.mark(graph_type, node, "a", 5, TaintCause::InFlight);
        }
        assert_eq!(ledger.invalidate(&["1"], LedgerScope::Except(DEFAULT)), 1);
        assert!(ledger.get("other", "1", "a").is_none());
        assert_eq!(ledger.invalidate(&["1"], LedgerScope::All), 1);
        assert!(!ledger.succeed(DEFAULT, "1", "a", 5, success(1)));
        assert_eq!(ledger.entries(DEFAULT).map(|(node, ..)| node).collect::<Vec<_>>(), ["2"]);
    }

    #[test]
    fn late_results_taint_newer_successes() {
        let mut ledger = AppliedLedger::default();
        ledger.mark_late(DEFAULT, "1", "a", 5);
        assert!(ledger.get(DEFAULT, "1", "a").is_none());
        ledger.mark(DEFAULT, "1", "a", 6, TaintCause::InFlight);
        ledger.succeed(DEFAULT, "1", "a", 6, success(1));
        ledger.mark_late(DEFAULT, "1", "a", 7);
        assert_eq!(ledger.get(DEFAULT, "1", "a").unwrap().taint, None);
        for run in [6, 5] {
            let mut ledger = ledger.clone();
            ledger.mark_late(DEFAULT, "1", "a", run);
            assert_eq!(ledger.get(DEFAULT, "1", "a").unwrap().taint, Some((run, TaintCause::Unknown)));
        }
    }
}
