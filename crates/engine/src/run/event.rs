//! Events that are recorded and effects that are executed.

use stoker_model::{GroupIdx, InstanceIdx, Micros, NodeIdx, TaskReport};

use super::end::{NodeOutcome, RunOutcome};
use super::input::StopMode;
use crate::session::{AttemptKey, CancelMode, ResultKind};

/// An immutable fact about a run, with all data that the task history needs.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineEvent {
    /// Server clock.
    pub at: Micros,
    pub kind: EventKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum EventKind {
    Began,
    /// The run lease was acquired by another server, or by the same one after a restart.
    TakenOver,
    /// An attempt of an instance was dispatched; attempts are numbered from 1.
    Dispatched {
        instance: InstanceIdx,
        attempt: u32,
    },
    /// `began_at` is the node's clock.
    Started {
        instance: InstanceIdx,
        attempt: u32,
        began_at: Micros,
    },
    /// `ended_at` is the node's clock if the node reported the result, else the server's.
    AttemptEnded {
        instance: InstanceIdx,
        attempt: u32,
        ended_at: Micros,
        end: AttemptOutcome,
        report: TaskReport,
        next: Next,
    },
    /// The backoff before a retry is over.
    RetryDue {
        instance: InstanceIdx,
    },
    /// These instances ended without being executed, in this order.
    Resolved {
        ends: Vec<(InstanceIdx, Resolution)>,
    },
    NodeLost {
        node: NodeIdx,
    },
    NodeBack {
        node: NodeIdx,
    },
    /// The node was lost for longer than the limit.
    NodeGivenUp {
        node: NodeIdx,
    },
    /// More nodes of the group have failed than it tolerates.
    ToleranceExceeded {
        group: GroupIdx,
        nodes: Vec<NodeIdx>,
    },
    NodeEnded {
        node: NodeIdx,
        end: NodeOutcome,
    },
    StopRequested {
        how: StopMode,
    },
    Paused,
    Resumed,
    /// A result of an attempt that had been abandoned. It does not change the state.
    LateResult {
        instance: InstanceIdx,
        attempt: u32,
        ended_at: Micros,
        end: ResultKind,
        report: TaskReport,
    },
    Ended {
        end: RunOutcome,
    },
}

/// Result of an attempt, reported by the agent or decided by the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttemptOutcome {
    Reported(ResultKind),
    /// The node of the attempt was abandoned.
    Lost,
    /// The agent is connected but did not report a result within timeout and grace period.
    NoResult,
}

impl AttemptOutcome {
    /// Returns a human-readable message; `None` on success.
    pub fn message(&self) -> Option<String> {
        let text = match self {
            Self::Reported(ResultKind::Succeeded) => return None,
            Self::Reported(ResultKind::Failed { message } | ResultKind::Refused { message }) => {
                message.clone()
            }
            Self::Reported(ResultKind::TimedOut) => {
                "it took longer than its timeout and was killed".to_owned()
            }
            Self::Reported(ResultKind::Cancelled) => "it was cancelled".to_owned(),
            Self::Reported(ResultKind::Interrupted) => {
                "it was interrupted because its agent stopped; its progress is unknown".to_owned()
            }
            Self::Lost => "its node was out of contact for too long; its progress is unknown".to_owned(),
            Self::NoResult => "its agent did not report a result, long after the timeout".to_owned(),
        };
        Some(text)
    }
}

/// Consequence of the end of an attempt: retry, success or failure of its instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Another attempt follows, not before this time.
    Retry { at: Micros },
    /// The instance has ended.
    Final(InstanceOutcome),
}

/// Outcome of an executed instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstanceOutcome {
    Succeeded,
    Failed,
    /// Failed, but the task does not fail its node.
    Ignored,
    Cancelled,
}

/// Final outcome of an instance that the engine decides itself, without the result of another attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    Skipped,
    /// A predecessor did not succeed; `by` is the instance that caused it.
    Blocked {
        by: InstanceIdx,
    },
    NotStarted(NotStarted),
    /// An attempt failed and there will be no retry.
    NotRetried(InstanceOutcome),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotStarted {
    /// Another instance of the node failed.
    NodeFailed { by: InstanceIdx },
    /// The node or its executor was abandoned.
    NodeLost { node: NodeIdx },
    /// The run was stopped, by request or because a tolerance was exceeded.
    Stopped,
}

/// An action to execute after the events of a step are committed. Idempotent.
#[derive(Clone, Debug, PartialEq)]
pub enum RunEffect {
    Dispatch(AttemptKey),
    Cancel {
        key: AttemptKey,
        how: CancelMode,
    },
    /// Give [`super::Input::Wake`] at this time. Replaces an earlier request.
    WakeAt(Micros),
    /// Record the state of the plan as the last successful state of this task on this node. Must be stored in
    /// the same transaction as the events: [`super::RunMachine::effects`] does not repeat it.
    Succeeded {
        instance: InstanceIdx,
    },
    /// Record that this handler is triggered, until it succeeds. Must be stored in the same transaction as the
    /// events, like [`RunEffect::Succeeded`].
    Triggered {
        instance: InstanceIdx,
    },
    NodeEnded {
        node: NodeIdx,
        end: NodeOutcome,
    },
    RunEnded(RunOutcome),
}
