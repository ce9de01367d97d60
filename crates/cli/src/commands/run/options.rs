//! Options of commands that start a run.

use clap::ValueEnum;
use serde_json::Value as Json;

use crate::remote::set;

/// Options of commands that plan and start a run.
#[derive(Debug, clap::Args)]
pub(crate) struct RunOptions {
    /// Create a plan without running it
    #[arg(long)]
    dry_run: bool,

    /// Ignore earlier successes and run all tasks again
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    rollout: RolloutOptions,

    /// Follow progress until the run ends
    #[arg(long)]
    pub(crate) follow: bool,
}

/// Execution options of a plan.
#[derive(Debug, clap::Args)]
pub(crate) struct RolloutOptions {
    /// Run tasks in no-op mode: they report what they would do and change nothing
    #[arg(long)]
    noop: bool,

    /// Enable debug output of task executors
    #[arg(long)]
    debug: bool,

    /// Behavior of a node after a task failure: `stop`, or `continue` with independent tasks
    #[arg(long, value_name = "BEHAVIOR", hide_possible_values = true)]
    on_failure: Option<OnFailure>,

    /// Behavior at a stage if an earlier task failed: `pass` continues, `hold` starts nothing after the stage
    #[arg(long, value_name = "BEHAVIOR", hide_possible_values = true)]
    at_stages: Option<AtStages>,

    /// Maximum number of failed nodes, such as `2` or `10%`, in addition to the limits of node groups
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    fault_tolerance: Option<String>,

    /// Time without contact after which a node counts as failed, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    lost_after: Option<u32>,

    /// Maximum number of nodes that execute tasks concurrently
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
        self.rollout.apply_to(body)
    }
}

impl RolloutOptions {
    /// Adds the options to the body of a request.
    pub(crate) fn apply_to(&self, mut body: Json) -> Json {
        set(&mut body, "noop_run", self.noop);
        set(&mut body, "debug", self.debug);
        if let Some(behavior) = self.on_failure {
            set(
                &mut body,
                "on_failure",
                if behavior == OnFailure::Stop { "node_stops" } else { "node_continues" },
            );
        }
        if let Some(behavior) = self.at_stages {
            set(&mut body, "at_stages", if behavior == AtStages::Pass { "pass" } else { "hold" });
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
