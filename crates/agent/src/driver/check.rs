//! Checks of the node: compares it with desired states, beside the attempts, and reports the differences.
//!
//! The items of a check are compared one after another, so that a check takes at most one processor. A check has no
//! journal and no output, and its report is lost with the connection.

use std::sync::Arc;
use std::time::Duration;

use stoker_engine::session::{CheckItem, CheckOutcome, CheckReport, CheckRequest, FromAgent};
use stoker_model::{Change, HostDifference};
use stoker_tasks::host::HostFuture;
use stoker_tasks::host::real::{AttemptRecorder, LocalHost, Machine, ProcessId};
use stoker_tasks::output::{OUTPUT_HEAD_TAIL_BYTES, OutputReport};
use stoker_tasks::{
    Failure, FailureCause, HostError, StopReason, StopSender, TaskOutcome, compare, mask_outcome,
};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::attempt::truncate;
use super::{Driver, Event};

/// Maximum number of concurrent checks. One of a user and a scheduled one may overlap.
const CHECKS_MAX: usize = 2;

/// Maximum time of a check, whatever the server requests.
const TIME_MAX: Duration = Duration::from_mins(10);

/// Maximum total size of the differences in a report, well below the limit of a message. What exceeds it is reported
/// without its text.
const REPORT_BYTES_MAX: usize = 4 << 20;

/// Maximum number of differences of an item; the others are counted.
const DIFFERENCES_MAX: usize = 1000;

impl Driver {
    /// Starts a check. Its report is sent to the server.
    pub(super) fn start_check(&mut self, request: CheckRequest) {
        while self.checks.try_join_next().is_some() {}
        let events = self.events.clone();
        if self.checks.len() >= CHECKS_MAX {
            let busy = || CheckOutcome::Failed { message: "the agent is busy with other checks".to_owned() };
            let results = request.items.iter().map(|_| busy()).collect();
            self.outbox.push(FromAgent::Checked(CheckReport { id: request.id, results }));
            return;
        }
        let host = CheckHost {
            machine: Arc::clone(&self.machine),
            report: Arc::new(OutputReport::new(
                &request.secrets,
                OUTPUT_HEAD_TAIL_BYTES,
                Box::new(|_, _, _| {}),
            )),
            marker: format!("check {}@{}", request.id, self.settings.state.display()),
        };
        self.checks.spawn(async move {
            let report = check(request, &host).await;
            _ = events.send(Event::Report(FromAgent::Checked(report))).await;
        });
    }
}

/// What the items of a check share.
struct CheckHost {
    machine: Arc<Machine>,
    /// Masks secrets. The output of programs that only read is discarded.
    report: Arc<OutputReport>,
    marker: String,
}

async fn check(request: CheckRequest, host: &CheckHost) -> CheckReport {
    let CheckRequest { id, node, timeout_ms, items, secrets: _ } = request;
    let time_max = Duration::from_millis(timeout_ms).min(TIME_MAX);
    let deadline = Instant::now() + time_max;
    let mut n_bytes_left = REPORT_BYTES_MAX;
    let mut results = Vec::with_capacity(items.len());
    for item in items {
        let outcome = compare_until(deadline, item, node.clone(), host).await;
        results.push(match mask_outcome(outcome, host.report.mask()) {
            Ok(report) => CheckOutcome::Compared { diff: bounded(report.diff, &mut n_bytes_left) },
            Err(failure) => CheckOutcome::Failed { message: message(failure, time_max) },
        });
    }
    CheckReport { id, results }
}

/// Compares one item. At the deadline its processes are ended.
async fn compare_until(deadline: Instant, item: CheckItem, node: String, shared: &CheckHost) -> TaskOutcome {
    let (stopper, stop) = StopSender::new();
    let timed_out = || Failure { cause: FailureCause::Stopped(StopReason::TimedOut), report: Box::default() };
    if Instant::now() >= deadline {
        return Err(timed_out());
    }
    let host = LocalHost {
        machine: Arc::clone(&shared.machine),
        report: Arc::clone(&shared.report),
        stop,
        marker: shared.marker.clone(),
        traceparent: None,
        recorder: Arc::new(NoRecord),
    };
    // Spawned, so that a panic in a task type is a failure of its item. Dropping the set aborts the work.
    let mut work = JoinSet::new();
    work.spawn(async move { compare(&item.task_type, &item.parameters, &node, host).await });
    let ended = tokio::select! {
        ended = work.join_next() => ended,
        () = tokio::time::sleep_until(deadline) => {
            stopper.stop(StopReason::TimedOut);
            // A read from a hung file system cannot be stopped.
            let grace = shared.machine.grace + Duration::from_secs(1);
            tokio::time::timeout(grace, work.join_next()).await.ok().flatten()
        }
    };
    match ended {
        Some(Ok(outcome)) => outcome,
        Some(Err(error)) => Err(Failure {
            cause: FailureCause::Failed(format!("internal error in the agent: {error}")),
            report: Box::default(),
        }),
        None => Err(timed_out()),
    }
}

fn message(failure: Failure, time_max: Duration) -> String {
    match failure.cause {
        FailureCause::Failed(message) | FailureCause::Refused(message) => truncate(message),
        FailureCause::Stopped(_) => {
            format!("not compared within {} seconds", time_max.as_secs_f64())
        }
    }
}

/// Replaces texts that exceed the remaining size by their size, and counts what exceeds [`DIFFERENCES_MAX`]. A node that
/// differs is never reported as equal.
fn bounded(mut diff: Vec<HostDifference>, n_bytes_left: &mut usize) -> Vec<HostDifference> {
    let n_more = diff.len().saturating_sub(DIFFERENCES_MAX);
    diff.truncate(DIFFERENCES_MAX);
    for difference in &mut diff {
        let n_bytes = difference.subject.len() + size(&difference.change);
        match n_bytes_left.checked_sub(n_bytes) {
            Some(left) => *n_bytes_left = left,
            None => difference.change = Change::Text(format!("({n_bytes} bytes, omitted)")),
        }
    }
    if n_more > 0 {
        diff.push(HostDifference::value("(others)", "differences", None, Some(n_more.to_string())));
    }
    diff
}

fn size(change: &Change) -> usize {
    match change {
        Change::Value { old, new } => [old, new].into_iter().flatten().map(String::len).sum(),
        Change::Text(text) => text.len(),
    }
}

/// A check starts only programs that read, and ends them itself.
struct NoRecord;

impl AttemptRecorder for NoRecord {
    fn process_started(&self, _process: ProcessId) -> HostFuture<'_, ()> {
        Box::pin(async {})
    }

    fn about_to_reboot(&self, _boot_id: String) -> HostFuture<'_, Result<(), HostError>> {
        Box::pin(async { Err(HostError::Other("a check does not reboot".to_owned())) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_beyond_the_limit_are_reported_without_their_text() {
        let text = |n_bytes: usize| HostDifference::text("/a", "content", "x".repeat(n_bytes));
        let mut left = 14;
        let diff = bounded(vec![text(8), text(8), text(2)], &mut left);
        let omitted = HostDifference::text("/a", "content", "(10 bytes, omitted)".to_owned());
        assert_eq!((diff, left), (vec![text(8), omitted, text(2)], 0));
        let diff = bounded(vec![text(0); DIFFERENCES_MAX + 3], &mut (1 << 20));
        assert_eq!(diff.len(), DIFFERENCES_MAX + 1);
        assert_eq!(
            diff.last().map(|last| last.change.clone()),
            Some(Change::Value { old: None, new: Some("3".to_owned()) })
        );
    }
}
