//! What a run can be told while it is carried out.

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
    Finished {
        uid: String,
        finished: Finished,
    },
    /// The same by way of somebody who kept it, and wants to know when it is safe here.
    Settle {
        uid: String,
        finished: Finished,
        answer: oneshot::Sender<()>,
    },
    /// Somebody wants something, and an answer.
    Asked {
        input: Input,
        answer: oneshot::Sender<Result<(), Illegal>>,
    },
}
