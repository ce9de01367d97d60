//! What a run can be told while it is carried out.

use serde::{Deserialize, Serialize};
use stoker_engine::run::{Illegal, Input};
use stoker_engine::session::{AttemptKey, Finished};
use stoker_model::Micros;
use tokio::sync::oneshot;

pub(crate) enum Command {
    /// An agent is heard of again.
    AgentBack {
        uid: String,
    },
    AgentLost {
        uid: String,
    },
    /// The server that had an agent has it no longer. It may come back at once.
    AgentGone {
        uid: String,
    },
    /// An agent is there and has not got this.
    Deliver {
        uid: String,
        key: AttemptKey,
    },
    Started {
        key: AttemptKey,
        at: Micros,
    },
    /// `receipt` is answered when the result is committed.
    Finished {
        uid: String,
        finished: Finished,
        receipt: Option<oneshot::Sender<RunResponse>>,
    },
    /// Somebody wants something, and an answer.
    Asked {
        input: Input,
        answer: oneshot::Sender<Result<(), Illegal>>,
    },
}

/// How the driver of a run responds to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RunResponse {
    Done,
    /// It is not carried out by whoever was asked.
    Nobody,
    NotBegun,
    HasEnded,
    NotPaused,
    AlreadyPaused,
    AlreadyStopping,
    /// It is about an attempt that is not the agent's.
    NotItsOwn,
}

impl RunResponse {
    pub(crate) fn of(result: Result<(), Option<Illegal>>) -> Self {
        match result {
            Ok(()) => Self::Done,
            Err(Some(Illegal::NotBegun)) => Self::NotBegun,
            Err(Some(Illegal::HasEnded)) => Self::HasEnded,
            Err(Some(Illegal::NotPaused)) => Self::NotPaused,
            Err(Some(Illegal::AlreadyPaused)) => Self::AlreadyPaused,
            Err(Some(Illegal::AlreadyStopping)) => Self::AlreadyStopping,
            // The others are about attempts and nodes, which nobody asks for.
            Err(_) => Self::Nobody,
        }
    }

    pub(crate) fn result(self) -> Result<(), Option<Illegal>> {
        match self {
            Self::Done => Ok(()),
            // The second responds to results only.
            Self::Nobody | Self::NotItsOwn => Err(None),
            Self::NotBegun => Err(Some(Illegal::NotBegun)),
            Self::HasEnded => Err(Some(Illegal::HasEnded)),
            Self::NotPaused => Err(Some(Illegal::NotPaused)),
            Self::AlreadyPaused => Err(Some(Illegal::AlreadyPaused)),
            Self::AlreadyStopping => Err(Some(Illegal::AlreadyStopping)),
        }
    }
}
