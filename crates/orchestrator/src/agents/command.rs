//! Commands that the driver of a run receives while it executes the run.

use serde::{Deserialize, Serialize};
use stoker_engine::run::{Input, InputError};
use stoker_engine::session::{AttemptKey, AttemptResult};
use stoker_model::{AgentUid, Micros};
use tokio::sync::oneshot;

pub(crate) enum Command {
    /// An agent connected, to this server or to another one.
    AgentBack {
        uid: AgentUid,
    },
    AgentLost {
        uid: AgentUid,
    },
    /// The server that hosted an agent no longer hosts it. The agent may reconnect immediately.
    AgentGone {
        uid: AgentUid,
    },
    /// Sends an attempt to an agent that connected without having received it.
    Deliver {
        uid: AgentUid,
        key: AttemptKey,
    },
    Started {
        key: AttemptKey,
        at: Micros,
    },
    /// `receipt` is answered when the result is committed.
    Finished {
        uid: AgentUid,
        finished: AttemptResult,
        receipt: Option<oneshot::Sender<RunResponse>>,
    },
    /// A control request (stop, pause, resume) whose result is sent to `reply`.
    Control {
        input: Input,
        reply: oneshot::Sender<Result<(), InputError>>,
    },
}

/// Response of the driver of a run to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RunResponse {
    Done,
    /// The recipient does not drive the run.
    #[serde(rename = "nobody")]
    NoDriver,
    NotBegun,
    HasEnded,
    NotPaused,
    AlreadyPaused,
    AlreadyStopping,
    /// The result belongs to an attempt of another agent.
    #[serde(rename = "not_its_own")]
    NotExecutor,
}

impl RunResponse {
    pub(crate) fn of(result: Result<(), Option<InputError>>) -> Self {
        match result {
            Ok(()) => Self::Done,
            Err(Some(InputError::NotBegun)) => Self::NotBegun,
            Err(Some(InputError::HasEnded)) => Self::HasEnded,
            Err(Some(InputError::NotPaused)) => Self::NotPaused,
            Err(Some(InputError::AlreadyPaused)) => Self::AlreadyPaused,
            Err(Some(InputError::AlreadyStopping)) => Self::AlreadyStopping,
            // The other errors concern attempts and nodes; no control request causes them.
            Err(_) => Self::NoDriver,
        }
    }

    pub(crate) fn result(self) -> Result<(), Option<InputError>> {
        match self {
            Self::Done => Ok(()),
            // `NotItsOwn` is a response to results only.
            Self::NoDriver | Self::NotExecutor => Err(None),
            Self::NotBegun => Err(Some(InputError::NotBegun)),
            Self::HasEnded => Err(Some(InputError::HasEnded)),
            Self::NotPaused => Err(Some(InputError::NotPaused)),
            Self::AlreadyPaused => Err(Some(InputError::AlreadyPaused)),
            Self::AlreadyStopping => Err(Some(InputError::AlreadyStopping)),
        }
    }
}
