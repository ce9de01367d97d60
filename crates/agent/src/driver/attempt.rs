//! One attempt, beside the loop.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use stoker_engine::session::{Attempt, AttemptKey, End, FromAgent};
use stoker_model::{Json, JsonMap};
use stoker_tasks::host::real::{Memory, ProcessId, RealHost};
use stoker_tasks::host::{Status, Work};
use stoker_tasks::output::{KEPT_BYTES, Report};
use stoker_tasks::{Cause, Failure, HostError, Order, Outcome, StopReason, Stopper, execute, masked};
use stoker_traces::{Kind, Span, Traceparent};
use stoker_wire::record::Entry;
use tokio::sync::mpsc;

use super::{Driver, Event, note_and_wait};
use crate::journal::Answer;

/// How an attempt ended.
pub(crate) struct Ended {
    pub(super) key: AttemptKey,
    pub(super) end: End,
    pub(super) summary: JsonMap,
}

/// What is left of a summary that is larger than anybody reads.
const SUMMARY_BYTES_MAX: usize = 256 << 10;

/// What is left of a reason.
const MESSAGE_BYTES_MAX: usize = 8 << 10;

/// After it was told to stop, an attempt that does not is given up: a file system may hang for ever.
const GIVE_UP: Duration = Duration::from_secs(30);

impl Driver {
    /// Begins an attempt. Its end comes back as an event.
    pub(super) fn begin(&mut self, attempt: Attempt) {
        let (stopper, stop) = Stopper::new();
        let key = attempt.key;
        let events = self.events.clone();
        let sink = {
            let events = events.clone();
            move |stream, offset, text| {
                _ = events.send(Event::Report(FromAgent::Output { key, stream, offset, text }));
            }
        };
        let mut span = self.span(&attempt);
        let under = attempt.trace.as_deref().and_then(Traceparent::parse);
        let trace = span.context().or(under);
        let trace_id = trace.as_ref().map(Traceparent::id);
        tracing::info!(attempt.key = %key, task = attempt.task, trace_id, "an attempt begins");
        let exit_code = Arc::new(Mutex::new(None));
        let report = Arc::new(Report::new(&attempt.secrets, KEPT_BYTES, Box::new(sink)));
        let host = RealHost {
            machine: Arc::clone(&self.machine),
            report: Arc::clone(&report),
            stop,
            mark: mark(key, &self.settings.state),
            trace: trace.map(|trace| trace.to_string()),
            memory: Arc::new(JournalMemory {
                key,
                events: events.clone(),
                exit_code: Arc::clone(&exit_code),
            }),
        };
        let (own, grace) = (stopper.clone(), self.settings.grace);
        self.running.insert(key, stopper);
        self.tasks.spawn(async move {
            let outcome = carry_out(attempt, host, own, grace + GIVE_UP).await;
            report.finish();
            // The next agent tells: the journal knows that it was begun.
            let Some((end, summary)) = ended(masked(outcome, report.mask())) else { return };
            say(&mut span, &end, *exit_code.lock().unwrap_or_else(PoisonError::into_inner));
            // Whoever waits for the attempt may look for its span next.
            drop(span);
            _ = events.send(Event::Ended(Box::new(Ended { key, end, summary })));
        });
    }

    /// The part of this node in the trace of whoever asked for the attempt.
    fn span(&self, attempt: &Attempt) -> Span {
        let under = attempt.trace.as_deref().and_then(Traceparent::parse);
        let mut span = self.settings.tracer.begin(Kind::Consumer, "task", under);
        span.set("stoker.task.id", attempt.task.clone());
        span.set("stoker.task.type", attempt.task_type.clone());
        span.set("stoker.node", attempt.node.clone());
        span.set("stoker.agent.node", self.settings.node.clone());
        span.set("stoker.attempt", attempt.key.to_string());
        span
    }
}

/// Says how it ended. Messages are left out: who reads traces need not be somebody who may read what tasks say.
fn say(span: &mut Span, end: &End, exit_code: Option<i32>) {
    if let Some(code) = exit_code {
        span.set("process.exit.code", i64::from(code));
    }
    let word = match end {
        End::Succeeded => "succeeded",
        End::Failed { .. } => "failed",
        End::TimedOut => "timed_out",
        End::Cancelled => "cancelled",
        End::Interrupted => "interrupted",
        End::Refused { .. } => "refused",
    };
    span.set("stoker.attempt.end", word);
    if *end != End::Succeeded {
        span.fail(word);
    }
}

/// What every process of an attempt carries. Other agents on the machine have other folders.
pub(super) fn mark(key: AttemptKey, state: &std::path::Path) -> String {
    format!("{key}@{}", state.display())
}

async fn carry_out(attempt: Attempt, host: RealHost, stopper: Stopper, give_up: Duration) -> Outcome {
    let timeout = Duration::from_millis(attempt.timeout_ms);
    let stop = host.stop.clone();
    // A bug in one type must not take the agent with it.
    let mut work = tokio::spawn(async move {
        let Attempt { task_type, parameters, node, mode, debug, .. } = &attempt;
        execute(Order { task_type, parameters, node, mode: *mode, debug: *debug }, host).await
    });
    let reason = tokio::select! {
        done = &mut work => return done.unwrap_or_else(|error| Err(bug(&error.to_string()))),
        () = tokio::time::sleep(timeout) => {
            stopper.stop(StopReason::TimedOut);
            StopReason::TimedOut
        }
        reason = stop.wait() => reason,
    };
    if let Ok(done) = tokio::time::timeout(give_up, &mut work).await {
        return done.unwrap_or_else(|error| Err(bug(&error.to_string())));
    }
    work.abort();
    Err(Failure { cause: Cause::Stopped(reason), summary: JsonMap::new() })
}

fn bug(reason: &str) -> Failure {
    Failure { cause: Cause::Failed(format!("a fault of the agent: {reason}")), summary: JsonMap::new() }
}

/// In the words of the session; nothing where the agent itself ends.
fn ended(outcome: Outcome) -> Option<(End, JsonMap)> {
    let (end, summary) = match outcome {
        Ok(summary) => (End::Succeeded, summary),
        Err(Failure { cause, summary }) => {
            let end = match cause {
                Cause::Failed(message) => End::Failed { message: shortened(message) },
                Cause::Refused(message) => End::Refused { message: shortened(message) },
                Cause::Stopped(StopReason::TimedOut) => End::TimedOut,
                Cause::Stopped(StopReason::Cancelled) => End::Cancelled,
                Cause::Stopped(StopReason::AgentEnds) => return None,
            };
            (end, summary)
        }
    };
    let n_bytes = Json::Object(summary.clone()).to_string().len();
    if n_bytes <= SUMMARY_BYTES_MAX {
        return Some((end, summary));
    }
    let message =
        format!("a summary of {n_bytes} bytes was left out; more than {SUMMARY_BYTES_MAX} are not kept");
    Some((end, JsonMap::from_iter([("message".to_owned(), message.into())])))
}

fn shortened(mut message: String) -> String {
    if message.len() > MESSAGE_BYTES_MAX {
        message.truncate(message.floor_char_boundary(MESSAGE_BYTES_MAX));
        message.push('…');
    }
    message
}

/// Notes of an attempt, in the journal.
struct JournalMemory {
    key: AttemptKey,
    events: mpsc::UnboundedSender<Event>,
    /// Of the last process that ended by itself.
    exit_code: Arc<Mutex<Option<i32>>>,
}

impl Memory for JournalMemory {
    fn started(&self, process: ProcessId) {
        let ProcessId { pid, started } = process;
        // Not synced: after a crash of the machine the process is gone too.
        let entry = Entry::Process { key: self.key, pid, started };
        _ = self.events.send(Event::Note { entry, answer: Answer::Nobody, key: self.key });
    }

    fn ended(&self, status: Status) {
        let code = match status {
            Status::Code(code) => Some(code),
            Status::Signal(_) => None,
        };
        *self.exit_code.lock().unwrap_or_else(PoisonError::into_inner) = code;
    }

    fn rebooting(&self, boot_id: String) -> Work<'_, Result<(), HostError>> {
        Box::pin(async move {
            let entry = Entry::Rebooting { key: self.key, boot_id };
            let noted = note_and_wait(&self.events, self.key, entry).await;
            noted.map_err(|reason| HostError::Other(format!("the agent cannot write its journal: {reason}")))
        })
    }
}
