//! What can happen to a run.

use std::fmt;

use stoker_model::{JsonMap, Micros};

use crate::session::{AttemptKey, End};

#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// To be given once, first.
    Begin,
    /// A server has the run that did not have it before. Whatever seems overdue may be so because nobody listened, and
    /// gets its time again. To be given by each server that takes up a run that has begun.
    TakeOver,
    /// An agent has begun an attempt.
    AttemptStarted {
        key: AttemptKey,
        at: Micros,
    },
    /// An agent says how an attempt ended. Saying it again changes nothing.
    AttemptFinished {
        key: AttemptKey,
        at: Micros,
        end: End,
        summary: JsonMap,
    },
    /// Nothing is heard of the agent of a node. To be told at the beginning too, of those that are not there.
    NodeLost {
        node: u32,
    },
    NodeBack {
        node: u32,
    },
    Stop {
        how: StopHow,
    },
    /// Nothing is begun until [`Input::Resume`]; what runs goes on. In the place of [`Input::Begin`] it begins a run that is
    /// paused.
    Pause,
    Resume,
    /// It is the time that [`super::Effect::WakeAt`] asked for, or some other time.
    Wake,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopHow {
    /// What has begun is finished.
    Graceful,
    /// What has begun is killed.
    Now,
}

/// Something that cannot happen to this run. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Illegal {
    NotBegun,
    AlreadyBegun,
    HasEnded,
    /// Another run is meant.
    WrongRun,
    /// No such instance, or an attempt of it that was never asked for.
    UnknownAttempt,
    UnknownNode,
    NotPaused,
    AlreadyPaused,
    /// A stop can only become stricter.
    AlreadyStopping,
}

impl fmt::Display for Illegal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotBegun => "the run has not begun",
            Self::AlreadyBegun => "the run has begun already",
            Self::HasEnded => "the run has ended",
            Self::WrongRun => "this is about another run",
            Self::UnknownAttempt => "no such attempt was ever asked for",
            Self::UnknownNode => "the run has no such node",
            Self::NotPaused => "the run is not paused",
            Self::AlreadyPaused => "the run is paused already",
            Self::AlreadyStopping => "the run is stopping already",
        })
    }
}

impl std::error::Error for Illegal {}
