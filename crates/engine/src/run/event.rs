//! What is recorded, and what has to be done.

use stoker_model::{JsonMap, Micros};

use super::end::{NodeEnd, RunEnd};
use super::input::StopHow;
use crate::session::{AttemptKey, CancelHow, End};

/// Something that happened, with everything that history has to know.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// By the clock of the server.
    pub at: Micros,
    pub kind: EventKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum EventKind {
    Began,
    /// Another server has the run, or the same one again.
    TakenOver,
    /// It was decided to carry an instance out; attempts are numbered from 1.
    Dispatched {
        instance: u32,
        attempt: u32,
    },
    /// `began_at` is by the clock of the node.
    Started {
        instance: u32,
        attempt: u32,
        began_at: Micros,
    },
    /// `ended_at` is by the clock of the node, where the node said so.
    AttemptEnded {
        instance: u32,
        attempt: u32,
        ended_at: Micros,
        end: AttemptEnd,
        summary: JsonMap,
        next: Next,
    },
    /// A pause between two attempts is over.
    RetryDue {
        instance: u32,
    },
    /// These instances ended without being carried out, in this order.
    Resolved {
        ends: Vec<(u32, Resolution)>,
    },
    NodeLost {
        node: u32,
    },
    NodeBack {
        node: u32,
    },
    /// It was lost for too long.
    NodeGivenUp {
        node: u32,
    },
    /// More nodes of the group have failed than may.
    ToleranceExceeded {
        group: u32,
        nodes: Vec<u32>,
    },
    NodeEnded {
        node: u32,
        end: NodeEnd,
    },
    StopAsked {
        how: StopHow,
    },
    Paused,
    Resumed,
    /// The end of an attempt that nobody waited for any more. It changes nothing.
    LateResult {
        instance: u32,
        attempt: u32,
        ended_at: Micros,
        end: End,
        summary: JsonMap,
    },
    Ended {
        end: RunEnd,
    },
}

/// How an attempt ended, whoever said so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttemptEnd {
    Reported(End),
    /// Its node was given up.
    Lost,
    /// Its agent is there and did not say how it ended, long after it should have.
    NoAnswer,
}

impl AttemptEnd {
    /// For people; none if it went well.
    pub fn message(&self) -> Option<String> {
        let text = match self {
            Self::Reported(End::Succeeded) => return None,
            Self::Reported(End::Failed { message } | End::Refused { message }) => message.clone(),
            Self::Reported(End::TimedOut) => "it took longer than its timeout, and was ended".to_owned(),
            Self::Reported(End::Cancelled) => "it was cancelled".to_owned(),
            Self::Reported(End::Interrupted) => {
                "it was interrupted when its agent ended; nobody knows how far it came".to_owned()
            }
            Self::Lost => "its node was not heard of for too long; nobody knows how far it came".to_owned(),
            Self::NoAnswer => "its agent did not say how it ended, long after its timeout".to_owned(),
        };
        Some(text)
    }
}

/// What follows from the end of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Another attempt, not before this.
    Retry { at: Micros },
    /// The instance has ended.
    Final(Outcome),
}

/// How an instance ended that was carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Succeeded,
    Failed,
    /// It failed, and the task says that this does not matter.
    Ignored,
    Cancelled,
}

/// How an instance ended without another attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    Skipped,
    /// What it waits for did not succeed: the instance where that began.
    Blocked {
        by: u32,
    },
    NotStarted(NotStarted),
    /// An attempt has failed, and there will not be the next one.
    NotRetried(Outcome),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotStarted {
    /// Another instance of the node failed.
    NodeFailed { by: u32 },
    /// The node that should have done it was given up.
    NodeLost { node: u32 },
    /// The run was stopped, or broke off.
    Stopped,
}

/// What has to be done once the events of a step are safe. Doing it twice does no harm.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    Dispatch(AttemptKey),
    Cancel {
        key: AttemptKey,
        how: CancelHow,
    },
    /// Give [`super::Input::Wake`] at this time. Replaces what was asked before.
    WakeAt(Micros),
    /// The state of the plan is, from now on, that of the last success of this task on this node. To be kept together with
    /// the events: it is not said again by [`super::Run::effects`].
    Succeeded {
        instance: u32,
    },
    NodeEnded {
        node: u32,
        end: NodeEnd,
    },
    RunEnded(RunEnd),
}
