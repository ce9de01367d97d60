//! What server and agent say to each other. How it is spelled on the wire is not decided here.

use std::fmt;

use stoker_model::{Json, JsonMap, Micros, RunId};

/// One attempt to carry out one task instance. No two attempts ever have the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttemptKey {
    pub run: RunId,
    /// The number of the instance in the plan of the run.
    pub instance: u32,
    /// From 1.
    pub attempt: u32,
}

impl fmt::Display for AttemptKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.run, self.instance, self.attempt)
    }
}

/// How often a run has changed hands. A server that lost a run says so with a number that is too small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Generation(pub u64);

/// From a server.
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all messages are attempts, and each is moved only a few times"
)]
#[derive(Clone, Debug, PartialEq)]
pub enum ToAgent {
    /// The answer to [`Hello`].
    Welcome { heartbeat_ms: u64 },
    /// Carry this out, unless it was carried out already.
    Start(Attempt),
    /// End it, whether it has begun or not.
    Cancel { key: AttemptKey, generation: Generation, how: CancelHow },
    /// The ends of these are safe; the agent need not keep what it reported.
    Acknowledge { keys: Vec<AttemptKey> },
    /// Nothing of this run will be sent again; its keys can be forgotten.
    RunEnded { run: RunId },
}

/// From an agent.
#[derive(Clone, Debug, PartialEq)]
pub enum FromAgent {
    Hello(Hello),
    Heartbeat,
    /// Facts have changed since the last time.
    Facts(JsonMap),
    Started {
        key: AttemptKey,
        at: Micros,
    },
    /// A piece of what the attempt printed, the first byte of which is number `offset` of its stream.
    Output {
        key: AttemptKey,
        stream: Stream,
        offset: u64,
        text: String,
    },
    Finished(Finished),
}

/// The first message of an agent, each time it connects.
#[derive(Clone, Debug, PartialEq)]
pub struct Hello {
    /// The uid of the node, or `master`.
    pub node: String,
    /// Of the program.
    pub version: String,
    /// What runs now.
    pub running: Vec<AttemptKey>,
    /// What has ended and was not acknowledged.
    pub finished: Vec<Finished>,
    /// Every run of which the journal still knows something. Those that have ended are answered with
    /// [`ToAgent::RunEnded`], so one that got lost is made up for.
    pub runs: Vec<RunId>,
    pub facts: JsonMap,
}

/// Everything an agent needs: nothing is left to be computed or fetched.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    pub key: AttemptKey,
    pub generation: Generation,
    pub task: String,
    /// The node the instance belongs to. For a task that the master does for a node this is not the agent's own.
    pub node: String,
    pub task_type: String,
    pub parameters: Json,
    pub mode: Mode,
    pub debug: bool,
    /// Longer than this and it is ended, with everything it started.
    pub timeout_ms: u64,
    /// Texts that must not appear in what is reported.
    pub secrets: Vec<String>,
    /// How whoever asked for the run follows it: a `traceparent` of W3C Trace Context.
    pub trace: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Normal,
    /// Say what would be done, touch nothing.
    Noop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelHow {
    /// Only if it has not begun.
    Graceful,
    /// Even in the middle of it.
    Now,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stream {
    Out,
    Err,
}

/// How an attempt ended. Each is reported until it is acknowledged.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    pub key: AttemptKey,
    pub at: Micros,
    pub end: End,
    /// What the type of the task tells about what it did.
    pub summary: JsonMap,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    Succeeded,
    /// It ran and did not do what it should.
    Failed {
        message: String,
    },
    TimedOut,
    Cancelled,
    /// It was running when its agent died; nobody knows how far it came.
    Interrupted,
    /// It was not begun, and will not be: the reason.
    Refused {
        message: String,
    },
}
