//! Settings of an agent.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use stoker_model::AgentUid;
use stoker_tasks::host::real::Machine;
use stoker_traces::Tracer;

use crate::backoff::BackoffLimits;

/// Settings of an agent; see [`DriverSettings::new`] for defaults.
#[derive(Clone, Debug)]
pub struct DriverSettings {
    /// State directory of this agent.
    pub state: PathBuf,
    pub node: AgentUid,
    pub hooks: BTreeMap<String, PathBuf>,
    /// Time between SIGTERM and SIGKILL when a program is stopped.
    pub grace: Duration,
    /// Delays between connection attempts.
    pub backoff: BackoffLimits,
    /// Interval at which facts are collected.
    pub facts_every: Duration,
    /// File with the boot ID of the machine.
    pub boot_id: PathBuf,
    /// Environment variables of the agent that tasks do not inherit.
    pub hidden_env: Vec<String>,
    pub tracer: Tracer,
}

impl DriverSettings {
    pub fn new(state: PathBuf, node: AgentUid) -> Self {
        let machine = Machine::new(PathBuf::new());
        Self {
            state,
            node,
            hooks: BTreeMap::new(),
            grace: machine.grace,
            // Start short: a restarted server is back soon, and its runs wait for the agents.
            backoff: BackoffLimits { min: Duration::from_millis(250), max: Duration::from_mins(1) },
            facts_every: Duration::from_mins(1),
            boot_id: machine.boot_id,
            hidden_env: Vec::new(),
            tracer: Tracer::default(),
        }
    }
}
