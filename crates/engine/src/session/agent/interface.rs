//! What comes in and what goes out.

use stoker_model::{JsonMap, RunId};

use super::super::{Attempt, AttemptKey, End, FromAgent, ToAgent};
use super::journal::Record;

/// What an agent says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The uid of the node, or `master`.
    pub node: String,
    /// Of the program.
    pub version: String,
}

/// How much is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Ends that no server has acknowledged; with more of them nothing new is begun.
    pub n_unacknowledged_max: usize,
    /// Runs that have ended are remembered, so that what comes late from them is not begun; the oldest go first.
    pub n_ended_runs_max: usize,
    /// Records beyond twice what is needed before the journal is written anew.
    pub n_slack_records: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { n_unacknowledged_max: 10_000, n_ended_runs_max: 1_000, n_slack_records: 256 }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// There is a connection now, whichever was before is gone.
    Connected {
        facts: JsonMap,
    },
    Disconnected,
    Message(ToAgent),
    /// The write of this number, and no other, is safe on disk.
    Written {
        seq: u64,
    },
    /// It is not on disk, and never will be.
    WriteFailed {
        seq: u64,
        message: String,
    },
    /// What [`Output::Start`] began is over.
    Exited {
        key: AttemptKey,
        end: End,
        summary: JsonMap,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Append to the journal, and say how it went.
    Write {
        seq: u64,
        record: Record,
    },
    /// Put these in the place of the whole journal at once, and say how it went. Earlier writes are contained in it.
    Rewrite {
        seq: u64,
        records: Vec<Record>,
    },
    Send(FromAgent),
    /// Begin it. Answered with [`Input::Exited`], also if it cannot be begun.
    Start(Attempt),
    /// End it with everything it started. Answered with [`Input::Exited`].
    Kill(AttemptKey),
    HeartbeatEvery {
        ms: u64,
    },
    /// A message was not obeyed. For the log.
    Ignored {
        run: RunId,
        why: &'static str,
    },
}
