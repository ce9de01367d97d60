//! How an agent behaves.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use stoker_tasks::host::real::Machine;
use stoker_traces::Tracer;

/// How an agent behaves; see [`Settings::new`].
#[derive(Clone, Debug)]
pub struct Settings {
    /// The folder of this agent.
    pub state: PathBuf,
    /// The uid of the node, or `master`.
    pub node: String,
    pub hooks: BTreeMap<String, PathBuf>,
    /// How long a program may take to end after it was asked to.
    pub grace: Duration,
    /// Pauses between attempts to connect, from the first to the longest.
    pub backoff: (Duration, Duration),
    /// How often it looks whether facts have changed.
    pub facts_every: Duration,
    /// The file that says which boot this is.
    pub boot_id: PathBuf,
    /// Variables of the agent that are none of a task's business.
    pub hidden_env: Vec<String>,
    /// Where spans of attempts come from.
    pub tracer: Tracer,
}

impl Settings {
    pub fn new(state: PathBuf, node: String) -> Self {
        let machine = Machine::new(PathBuf::new());
        Self {
            state,
            node,
            hooks: BTreeMap::new(),
            grace: machine.grace,
            // A server that was restarted is back soon, and its runs wait for the agents.
            backoff: (Duration::from_millis(250), Duration::from_mins(1)),
            facts_every: Duration::from_mins(1),
            boot_id: machine.boot_id,
            hidden_env: Vec::new(),
            tracer: Tracer::default(),
        }
    }
}
