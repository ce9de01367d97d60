//! Messages between server and agent. Their wire format is defined elsewhere.

use std::fmt;

use stoker_model::{AgentUid, InstanceIdx, Json, JsonMap, Micros, RunId, TaskReport};

use super::check::{CheckReport, CheckRequest};

/// Identifies one attempt to execute a task instance. Keys are never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttemptKey {
    pub run: RunId,
    /// Index of the instance in the plan of the run.
    pub instance: InstanceIdx,
    /// Starts at 1.
    pub attempt: u32,
}

impl fmt::Display for AttemptKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.run, self.instance, self.attempt)
    }
}

/// An attempt that was sent to an agent and has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InFlight {
    pub key: AttemptKey,
    pub is_started: bool,
    pub cancel: Option<CancelMode>,
}

/// Lease generation of a run, used as a fencing token: messages with an older generation come from a server
/// that lost the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Generation(pub u64);

/// Message from server to agent.
#[derive(Clone, Debug, PartialEq)]
pub enum ToAgent {
    /// Response to [`Hello`].
    Welcome { heartbeat_ms: u64 },
    /// Execute this attempt, unless it was executed already.
    Start(Attempt),
    /// Cancel the attempt, whether it has started or not.
    Cancel { key: AttemptKey, generation: Generation, how: CancelMode },
    /// The results of these attempts are durable; the agent may drop them.
    Acknowledge { keys: Vec<AttemptKey> },
    /// The run is over: no more messages about it follow, and the agent may drop its keys.
    RunEnded { run: RunId },
    /// Compare the node with desired states, and change nothing. Agents of earlier versions ignore it.
    Check(CheckRequest),
}

/// Message from agent to server.
#[derive(Clone, Debug, PartialEq)]
pub enum FromAgent {
    Hello(Hello),
    Heartbeat,
    /// Facts that changed since the last report.
    Facts(JsonMap),
    Started {
        key: AttemptKey,
        at: Micros,
    },
    /// A chunk of the attempt's output, starting at byte `offset` of its stream.
    Output {
        key: AttemptKey,
        stream: Stream,
        offset: u64,
        text: String,
    },
    Finished(AttemptResult),
    Checked(CheckReport),
}

/// First message of an agent after each connect.
#[derive(Clone, Debug, PartialEq)]
pub struct Hello {
    pub node: AgentUid,
    /// Agent version.
    pub version: String,
    /// Attempts running now.
    pub running: Vec<AttemptKey>,
    /// Results that were not acknowledged.
    pub finished: Vec<AttemptResult>,
    /// All runs in the journal. The server sends [`ToAgent::RunEnded`] again for runs that are over, because
    /// earlier messages may have been lost.
    pub runs: Vec<RunId>,
    pub facts: JsonMap,
    /// Id of the agent's journal; `None` for agents that do not identify it.
    pub journal_id: Option<String>,
}

/// A self-contained attempt: the agent needs no further data to execute it.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    pub key: AttemptKey,
    pub generation: Generation,
    pub task: String,
    /// Node of the instance. For a task that the master executes on behalf of a node, this is not the agent's
    /// own node.
    pub node: String,
    pub task_type: String,
    pub parameters: Json,
    pub mode: Mode,
    pub debug: bool,
    /// Timeout in milliseconds after which the attempt and all of its child processes are killed.
    pub timeout_ms: u64,
    /// Values to redact in all reports.
    pub secrets: Vec<String>,
    /// W3C Trace Context `traceparent` of the request that started the run.
    pub trace: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Normal,
    /// Dry run: report what would change and change nothing.
    Noop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelMode {
    /// Cancel only if the attempt has not started.
    Graceful,
    /// Cancel the attempt even if it is running.
    Now,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stream {
    Out,
    Err,
}

/// Result of an attempt. Reported until it is acknowledged.
#[derive(Clone, Debug, PartialEq)]
pub struct AttemptResult {
    pub key: AttemptKey,
    pub at: Micros,
    pub end: ResultKind,
    pub report: TaskReport,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResultKind {
    Succeeded,
    /// The attempt ran and failed.
    Failed {
        message: String,
    },
    TimedOut,
    Cancelled,
    /// The attempt was running when its agent died; its progress is unknown.
    Interrupted,
    /// The agent refused the attempt and will not start it; the message is the reason.
    Refused {
        message: String,
    },
}
