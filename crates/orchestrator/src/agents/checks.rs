//! Checks of nodes that wait for the reports of their agents.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use stoker_engine::session::{CheckOutcome, CheckReport};
use stoker_model::AgentUid;
use tokio::sync::oneshot;

#[derive(Default)]
pub(crate) struct PendingChecks {
    next: AtomicU64,
    waiting: Mutex<HashMap<String, Waiting>>,
}

struct Waiting {
    uid: AgentUid,
    reply: oneshot::Sender<Vec<CheckOutcome>>,
}

/// A check that waits for its report. Dropping it ends the wait.
pub(crate) struct PendingCheck<'c> {
    checks: &'c PendingChecks,
    /// Names this server, so that the server that hosts the agent can return the report.
    pub(crate) id: String,
    pub(crate) reply: oneshot::Receiver<Vec<CheckOutcome>>,
}

impl PendingChecks {
    /// Registers a check of the node of an agent. `server` is the ID of this server.
    pub(crate) fn begin(&self, server: &str, uid: &AgentUid) -> PendingCheck<'_> {
        let id = format!("{server}/{}", self.next.fetch_add(1, Ordering::Relaxed));
        let (reply, receiver) = oneshot::channel();
        self.waiting.lock().insert(id.clone(), Waiting { uid: uid.clone(), reply });
        PendingCheck { checks: self, id, reply: receiver }
    }

    /// Returns a report to the check that waits for it. A report of another agent is ignored.
    pub(crate) fn finish(&self, uid: &AgentUid, report: CheckReport) {
        let mut waiting = self.waiting.lock();
        if waiting.get(&report.id).is_some_and(|check| check.uid == *uid)
            && let Some(check) = waiting.remove(&report.id)
        {
            // The check may have timed out.
            _ = check.reply.send(report.results);
        }
    }
}

/// Returns the ID of the server that waits for a report.
pub(crate) fn server_of(report: &CheckReport) -> Option<&str> {
    report.id.rsplit_once('/').map(|(server, _)| server)
}

impl Drop for PendingCheck<'_> {
    fn drop(&mut self) {
        self.checks.waiting.lock().remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_reach_the_check_of_their_agent() {
        let checks = PendingChecks::default();
        let uid = AgentUid::from("7");
        let mut first = checks.begin("one", &uid);
        let second = checks.begin("one", &uid);
        let report = |id: &str| CheckReport { id: id.to_owned(), results: vec![] };
        assert_eq!((server_of(&report(&first.id)), server_of(&report("nonsense"))), (Some("one"), None));
        checks.finish(&AgentUid::from("8"), report(&first.id));
        assert!(first.reply.try_recv().is_err(), "another agent cannot answer");
        checks.finish(&uid, report(&first.id));
        assert_eq!(first.reply.try_recv(), Ok(vec![]));
        drop((first, second));
        assert!(checks.waiting.lock().is_empty());
    }
}
