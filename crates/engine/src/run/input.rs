//! Inputs of a run.

use std::fmt;

use stoker_model::{Micros, NodeIdx, TaskReport};

use crate::session::{AttemptKey, ResultKind};

#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// Starts the run. Must be the first input, once.
    Begin,
    /// Another server has acquired the run lease. Deadlines are extended, because results may be late only
    /// because no server received them. Each server that takes over a started run must send this input.
    TakeOver,
    /// An agent started an attempt.
    AttemptStarted {
        key: AttemptKey,
        at: Micros,
    },
    /// An agent reported the result of an attempt. Idempotent.
    AttemptFinished {
        key: AttemptKey,
        at: Micros,
        end: ResultKind,
        report: TaskReport,
    },
    /// The agent of a node is out of contact. Also sent at the start of a run, for nodes without a connected
    /// agent.
    NodeLost {
        node: NodeIdx,
    },
    NodeBack {
        node: NodeIdx,
    },
    Stop {
        how: StopMode,
    },
    /// No instance starts until [`Input::Resume`]; attempts in flight continue. Sent instead of
    /// [`Input::Begin`], it starts a paused run.
    Pause,
    Resume,
    /// The time requested by [`super::RunEffect::WakeAt`] has come. Has no effect at any other time.
    Wake,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopMode {
    /// Attempts in flight are finished.
    Graceful,
    /// Attempts in flight are killed.
    Now,
}

/// The input is not allowed in the current state. The run is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputError {
    NotBegun,
    AlreadyBegun,
    HasEnded,
    /// The key belongs to another run.
    WrongRun,
    /// Unknown instance, or an attempt that was never dispatched.
    UnknownAttempt,
    UnknownNode,
    NotPaused,
    AlreadyPaused,
    /// A stop can only become stricter.
    AlreadyStopping,
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotBegun => "the run has not begun",
            Self::AlreadyBegun => "the run has already begun",
            Self::HasEnded => "the run has ended",
            Self::WrongRun => "the attempt belongs to another run",
            Self::UnknownAttempt => "the attempt was never dispatched",
            Self::UnknownNode => "the run has no such node",
            Self::NotPaused => "the run is not paused",
            Self::AlreadyPaused => "the run is already paused",
            Self::AlreadyStopping => "the run is already stopping",
        })
    }
}

impl std::error::Error for InputError {}
