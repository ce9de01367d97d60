//! Executes one attempt in a background task of the driver loop.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use stoker_engine::session::{Attempt, AttemptKey, ResultKind};
use stoker_model::{ErrorChain, JsonMap, TaskReport};
use stoker_tasks::host::real::{AttemptRecorder, LocalHost, ProcessId};
use stoker_tasks::host::{HostFuture, Status};
use stoker_tasks::output::{OUTPUT_HEAD_TAIL_BYTES, OutputReport};
use stoker_tasks::{
    AttemptSpec, Failure, FailureCause, HostError, StopReason, StopSender, TaskOutcome, execute, mask_outcome,
};
use stoker_traces::{SpanKind, TraceSpan, Traceparent};
use stoker_wire::record::JournalEntry;
use tokio::sync::mpsc;
use tokio::task::JoinError;

use super::output::OutputBuffer;
use super::{Driver, Event, append_and_wait};
use crate::journal::ReplyTo;

/// Result of an attempt, sent to the driver loop.
pub(crate) struct Ended {
    pub(super) key: AttemptKey,
    pub(super) end: ResultKind,
    pub(super) report: TaskReport,
}

/// Maximum size of a report. Of a larger one, summary and differences are replaced by a note with their size.
const REPORT_BYTES_MAX: usize = 256 << 10;

/// Maximum size of a failure reason; longer reasons are truncated. Below the wire limit for messages.
const MESSAGE_BYTES_MAX: usize = 8 << 10;

/// Time after a stop request and its grace period until an attempt is abandoned; a system call on a hung file
/// system may never return.
const ABANDON_AFTER: Duration = Duration::from_secs(30);

impl Driver {
    /// Starts an attempt. Its result arrives as [`Event::Ended`].
    pub(super) fn start_attempt(&mut self, attempt: Attempt) {
        let (stopper, stop) = StopSender::new();
        let key = attempt.key;
        let events = self.events.clone();
        let output = Arc::new(OutputBuffer::default());
        let sink = {
            let output = Arc::clone(&output);
            move |stream, offset, text: String| output.push(stream, offset, &text)
        };
        let mut span = self.span(&attempt);
        let parent = attempt.trace.as_deref().and_then(Traceparent::parse);
        let trace = span.context().or(parent);
        let trace_id = trace.as_ref().map(Traceparent::id);
        tracing::info!(attempt.key = %key, task = attempt.task, trace_id, "attempt started");
        let exit_code = Arc::new(Mutex::new(None));
        let report = Arc::new(OutputReport::new(&attempt.secrets, OUTPUT_HEAD_TAIL_BYTES, Box::new(sink)));
        let host = LocalHost {
            machine: Arc::clone(&self.machine),
            report: Arc::clone(&report),
            stop,
            marker: process_marker(key, &self.settings.state),
            traceparent: trace.map(|trace| trace.to_string()),
            recorder: Arc::new(JournalMemory {
                key,
                events: events.clone(),
                exit_code: Arc::clone(&exit_code),
            }),
        };
        let (own_stopper, grace) = (stopper.clone(), self.settings.grace);
        self.running.insert(key, stopper);
        self.tasks.spawn(async move {
            let outcome = tokio::select! {
                outcome = execute_with_timeout(attempt, host, own_stopper, grace + ABANDON_AFTER) => outcome,
                never = output.forward(key, &events) => match never {},
            };
            report.finish();
            // Flush the output before the result: the server drops output of an attempt that has ended.
            output.flush(key, &events).await;
            // Stopped because the agent ends: the journal has the attempt as accepted, so the next agent
            // reports it as interrupted.
            let Some((end, task_report)) = session_end(mask_outcome(outcome, report.mask())) else { return };
            record_end(&mut span, &end, *exit_code.lock());
            // Export the span before the result is sent, so that a client that waits for the result can find
            // it.
            drop(span);
            _ = events.send(Event::Ended(Box::new(Ended { key, end, report: task_report }))).await;
        });
    }

    /// Opens the span of this attempt as a child of the trace context in the request.
    fn span(&self, attempt: &Attempt) -> TraceSpan {
        let parent = attempt.trace.as_deref().and_then(Traceparent::parse);
        let mut span = self.settings.tracer.begin(SpanKind::Consumer, "task", parent);
        span.set_attribute("stoker.task.id", attempt.task.clone());
        span.set_attribute("stoker.task.type", attempt.task_type.clone());
        span.set_attribute("stoker.node", attempt.node.clone());
        span.set_attribute("stoker.agent.node", self.settings.node.to_string());
        span.set_attribute("stoker.attempt", attempt.key.to_string());
        span
    }
}

/// Records the result in the span. Messages are left out: users with access to traces may lack the permission
/// to read task output.
fn record_end(span: &mut TraceSpan, end: &ResultKind, exit_code: Option<i32>) {
    if let Some(code) = exit_code {
        span.set_attribute("process.exit.code", i64::from(code));
    }
    let label = match end {
        ResultKind::Succeeded => "succeeded",
        ResultKind::Failed { .. } => "failed",
        ResultKind::TimedOut => "timed_out",
        ResultKind::Cancelled => "cancelled",
        ResultKind::Interrupted => "interrupted",
        ResultKind::Refused { .. } => "refused",
    };
    span.set_attribute("stoker.attempt.end", label);
    if *end != ResultKind::Succeeded {
        span.fail(label);
    }
}

/// Returns the marker in the environment of every process of an attempt. It contains the state directory
/// because several agents may run on one machine.
pub(super) fn process_marker(key: AttemptKey, state: &std::path::Path) -> String {
    format!("{key}@{}", state.display())
}

async fn execute_with_timeout(
    attempt: Attempt,
    host: LocalHost,
    stopper: StopSender,
    abandon_after: Duration,
) -> TaskOutcome {
    let timeout = Duration::from_millis(attempt.timeout_ms);
    let stop = host.stop.clone();
    // Spawned, so that a panic in a task type does not end the agent.
    let mut work = tokio::spawn(async move {
        let Attempt { task_type, parameters, node, mode, debug, .. } = &attempt;
        execute(AttemptSpec { task_type, parameters, node, mode: *mode, debug: *debug }, host).await
    });
    let reason = tokio::select! {
        done = &mut work => return done.unwrap_or_else(|error| Err(internal_error(&error))),
        () = tokio::time::sleep(timeout) => {
            stopper.stop(StopReason::TimedOut);
            StopReason::TimedOut
        }
        reason = stop.wait() => reason,
    };
    if let Ok(done) = tokio::time::timeout(abandon_after, &mut work).await {
        return done.unwrap_or_else(|error| Err(internal_error(&error)));
    }
    work.abort();
    Err(Failure { cause: FailureCause::Stopped(reason), report: Box::default() })
}

fn internal_error(error: &JoinError) -> Failure {
    Failure {
        cause: FailureCause::Failed(format!("internal error in the agent: {}", ErrorChain(error))),
        report: Box::default(),
    }
}

/// Converts to session types. `None` if the attempt was stopped because the agent ends.
fn session_end(outcome: TaskOutcome) -> Option<(ResultKind, TaskReport)> {
    let (end, report) = match outcome {
        Ok(report) => (ResultKind::Succeeded, report),
        Err(Failure { cause, report }) => {
            let end = match cause {
                FailureCause::Failed(message) => ResultKind::Failed { message: truncate(message) },
                FailureCause::Refused(message) => ResultKind::Refused { message: truncate(message) },
                FailureCause::Stopped(StopReason::TimedOut) => ResultKind::TimedOut,
                FailureCause::Stopped(StopReason::Cancelled) => ResultKind::Cancelled,
                FailureCause::Stopped(StopReason::AgentShutdown) => return None,
            };
            (end, *report)
        }
    };
    let n_bytes = report.n_bytes();
    if n_bytes <= REPORT_BYTES_MAX {
        return Some((end, report));
    }
    let message =
        format!("report of {n_bytes} bytes dropped: it exceeds the limit of {REPORT_BYTES_MAX} bytes");
    let summary = JsonMap::from_iter([("message".to_owned(), message.into())]);
    Some((end, TaskReport { changed: report.changed, ..TaskReport::of_summary(summary) }))
}

pub(super) fn truncate(mut message: String) -> String {
    if message.len() > MESSAGE_BYTES_MAX {
        message.truncate(message.floor_char_boundary(MESSAGE_BYTES_MAX));
        message.push('…');
    }
    message
}

/// Records processes and reboots of an attempt in the journal.
struct JournalMemory {
    key: AttemptKey,
    events: mpsc::Sender<Event>,
    /// Exit code of the last process; `None` if a signal ended it.
    exit_code: Arc<Mutex<Option<i32>>>,
}

impl AttemptRecorder for JournalMemory {
    fn process_started(&self, process: ProcessId) -> HostFuture<'_, ()> {
        Box::pin(async move {
            let ProcessId { pid, started } = process;
            // No sync needed: the process does not survive a crash of the machine either.
            let entry = JournalEntry::Process { key: self.key, pid, started };
            // Fails only while the agent is ending, which ends the process.
            _ = self.events.send(Event::Append { entry, reply: ReplyTo::None, key: self.key }).await;
        })
    }

    fn process_exited(&self, status: Status) {
        let code = match status {
            Status::Code(code) => Some(code),
            Status::Signal(_) => None,
        };
        *self.exit_code.lock() = code;
    }

    fn about_to_reboot(&self, boot_id: String) -> HostFuture<'_, Result<(), HostError>> {
        Box::pin(async move {
            let entry = JournalEntry::Rebooting { key: self.key, boot_id };
            let written = append_and_wait(&self.events, self.key, entry).await;
            written.map_err(|error| HostError::Other(format!("cannot reboot: {}", ErrorChain(&error))))
        })
    }
}
