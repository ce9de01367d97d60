//! Inputs, outputs and limits of the agent session.

use stoker_model::{AgentUid, JsonMap, RunId, TaskReport};

use super::super::{Attempt, AttemptKey, CheckRequest, FromAgent, ResultKind, ToAgent};
use super::journal::Record;

/// Identity of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub node: AgentUid,
    /// Agent version.
    pub version: String,
    /// Id of the journal.
    pub journal_id: Option<String>,
}

/// Bounds of the retained state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentLimits {
    /// Maximum number of unacknowledged results; beyond it new attempts are refused.
    pub n_unacknowledged_max: usize,
    /// Number of ended runs to remember, so that their late messages are ignored; the oldest are evicted
    /// first.
    pub n_ended_runs_max: usize,
    /// Records beyond twice the needed number before the journal is compacted.
    pub n_slack_records: usize,
}

impl Default for AgentLimits {
    fn default() -> Self {
        Self { n_unacknowledged_max: 10_000, n_ended_runs_max: 1_000, n_slack_records: 256 }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// A connection was established; any previous connection is closed.
    Connected {
        facts: JsonMap,
    },
    Disconnected,
    Message(ToAgent),
    /// The write with this number, and no other, is durable.
    Written {
        seq: u64,
    },
    /// The write failed for good.
    WriteFailed {
        seq: u64,
        message: String,
    },
    /// The process of [`Output::Start`] has exited.
    Exited {
        key: AttemptKey,
        end: ResultKind,
        report: TaskReport,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Append to the journal and report the outcome.
    Write {
        seq: u64,
        record: Record,
    },
    /// Atomically replace the whole journal and report the outcome. The records include all earlier writes.
    Rewrite {
        seq: u64,
        records: Vec<Record>,
    },
    Send(FromAgent),
    /// Start the attempt. Answered with [`Input::Exited`], even if it cannot be started.
    Start(Attempt),
    /// Kill the attempt with all of its child processes. Answered with [`Input::Exited`].
    Kill(AttemptKey),
    /// Check the node. Answered with a message, not with an input.
    Check(CheckRequest),
    HeartbeatEvery {
        ms: u64,
    },
    /// A message was ignored. For logging.
    Ignored {
        run: RunId,
        why: &'static str,
    },
}
