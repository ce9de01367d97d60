//! Options of commands that start a run.

use clap::ValueEnum;
use serde_json::Value as Json;

use crate::remote::set;

/// Options of commands that plan and start a run.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each flag is an independent option")]
pub(crate) struct RunOptions {
    /// Start a dry run, which ends with its plan and executes no task
    #[arg(long)]
    dry_run: bool,

    /// Run all tasks, even if they already succeeded with the same input
    #[arg(long)]
    force: bool,

    /// Run although roles have fewer nodes than their minimum, which is then a warning
    #[arg(long)]
    ignore_limits: bool,

    #[command(flatten)]
    rollout: RolloutOptions,

    /// Show progress until the run ends, and fail if it fails [default: return when the run has started]
    #[arg(long)]
    pub(crate) follow: bool,
}

/// Execution options of a plan.
#[derive(Debug, clap::Args)]
pub(crate) struct RolloutOptions {
    /// Run tasks in no-op mode: they report what they would change and change nothing
    #[arg(long)]
    noop: bool,

    /// Include debug output in the task output
    #[arg(long)]
    debug: bool,

    /// Behaviour of a node after one of its tasks fails: `stop`, or `continue` with tasks that do not depend on it [default: stop]
    #[arg(long, value_name = "BEHAVIOUR", hide_possible_values = true)]
    on_failure: Option<OnFailure>,

    /// Behaviour at a stage boundary after failures within the fault tolerance: `pass` starts the next stage, `hold` starts no further tasks [default: pass]
    #[arg(long, value_name = "BEHAVIOUR", hide_possible_values = true)]
    at_stages: Option<AtStages>,

    /// Maximum number of nodes that may fail, such as `2` or `10%` [default: no limit beyond those of node groups]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    fault_tolerance: Option<String>,

    /// Time without contact after which a node counts as failed, in seconds [default: set by the server]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    lost_after: Option<u32>,

    /// Maximum number of nodes that run tasks concurrently [default: set by the server]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    nodes_at_once: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OnFailure {
    Stop,
    Continue,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AtStages {
    Pass,
    Hold,
}

impl RunOptions {
    /// Adds the options to the body of a request.
    pub(crate) fn apply_to(&self, mut body: Json) -> Json {
        set(&mut body, "dry_run", self.dry_run);
        set(&mut body, "force", self.force);
        if self.ignore_limits {
            set(&mut body, "ignore_limits", true);
        }
        self.rollout.apply_to(body)
    }
}

impl RolloutOptions {
    /// Adds the options to the body of a request.
    pub(crate) fn apply_to(&self, mut body: Json) -> Json {
        set(&mut body, "noop_run", self.noop);
        set(&mut body, "debug", self.debug);
        if let Some(behaviour) = self.on_failure {
            set(
                &mut body,
                "on_failure",
                if behaviour == OnFailure::Stop { "node_stops" } else { "node_continues" },
            );
        }
        if let Some(behaviour) = self.at_stages {
            set(&mut body, "at_stages", if behaviour == AtStages::Pass { "pass" } else { "hold" });
        }
        if let Some(tolerance) = &self.fault_tolerance {
            set(&mut body, "fault_tolerance", tolerance);
        }
        if let Some(seconds) = self.lost_after {
            set(&mut body, "lost_after", seconds);
        }
        if let Some(n_nodes) = self.nodes_at_once {
            set(&mut body, "nodes_at_once", n_nodes);
        }
        body
    }
}
