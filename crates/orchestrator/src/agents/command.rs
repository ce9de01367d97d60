//! Commands that the driver of a run receives while it executes the run.

use serde::{Deserialize, Serialize};
use stoker_engine::run::{Illegal, Input};
use stoker_engine::session::{AttemptKey, Finished};
use stoker_model::Micros;
use tokio::sync::oneshot;

pub(crate) enum Command {
    /// An agent connected, to this server or to another one.
    AgentBack {
        uid: String,
    },
    AgentLost {
        uid: String,
    },
    /// The server that hosted an agent does so no longer. The agent may reconnect immediately.
    AgentGone {
        uid: String,
    },
    /// An agent is connected and has not received this attempt.
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
    /// A control request (stop, pause, resume) whose result is sent to `answer`.
    Asked {
        input: Input,
        answer: oneshot::Sender<Result<(), Illegal>>,
    },
}

/// Response of the driver of a run to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RunResponse {
    Done,
    /// The recipient does not drive the run.
    Nobody,
    NotBegun,
    HasEnded,
    NotPaused,
    AlreadyPaused,
    AlreadyStopping,
    /// The result belongs to an attempt of another agent.
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
            // The other errors concern attempts and nodes; no control request causes them.
            Err(_) => Self::Nobody,
        }
    }

    pub(crate) fn result(self) -> Result<(), Option<Illegal>> {
        match self {
            Self::Done => Ok(()),
            // `NotItsOwn` is a response to results only.
            Self::Nobody | Self::NotItsOwn => Err(None),
            Self::NotBegun => Err(Some(Illegal::NotBegun)),
            Self::HasEnded => Err(Some(Illegal::HasEnded)),
            Self::NotPaused => Err(Some(Illegal::NotPaused)),
            Self::AlreadyPaused => Err(Some(Illegal::AlreadyPaused)),
            Self::AlreadyStopping => Err(Some(Illegal::AlreadyStopping)),
        }
    }
}
