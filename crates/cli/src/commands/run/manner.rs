//! How a run is carried out.

use clap::ValueEnum;
use serde_json::{Value as Json, json};

/// Options of every command that starts a run.
#[derive(Debug, clap::Args)]
pub(crate) struct Manner {
    /// Plan, and run nothing
    #[arg(long)]
    dry_run: bool,

    /// As if nothing had ever succeeded
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    pace: Pace,

    /// Show how it goes until its end
    #[arg(long)]
    pub(crate) follow: bool,
}

/// How a plan is carried out.
#[derive(Debug, clap::Args)]
pub(crate) struct Pace {
    /// Let tasks say what they would do, and touch nothing
    #[arg(long)]
    noop: bool,

    /// Let executors say more
    #[arg(long)]
    debug: bool,

    /// What a node does after one of its tasks failed: stop, or continue with what does not depend on it
    #[arg(long, value_name = "WHAT", hide_possible_values = true)]
    on_failure: Option<OnFailure>,

    /// Whether nodes go on behind a stage when something before it failed: pass, or hold
    #[arg(long, value_name = "WHAT", hide_possible_values = true)]
    at_stages: Option<AtStages>,

    /// How many nodes of the run may fail, as `2` or `10%`, beside what groups say
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    fault_tolerance: Option<String>,

    /// Give a node up when nothing is heard of it for so long
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    lost_after: Option<u32>,

    /// How many nodes carry out something at the same time
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

impl Manner {
    /// Adds what was chosen to the body of a request.
    pub(crate) fn over(&self, mut body: Json) -> Json {
        body["dry_run"] = json!(self.dry_run);
        body["force"] = json!(self.force);
        self.pace.over(body)
    }
}

impl Pace {
    /// Adds what was chosen to the body of a request.
    pub(crate) fn over(&self, mut body: Json) -> Json {
        body["noop_run"] = json!(self.noop);
        body["debug"] = json!(self.debug);
        if let Some(what) = self.on_failure {
            body["on_failure"] = json!(if what == OnFailure::Stop { "node_stops" } else { "node_continues" });
        }
        if let Some(what) = self.at_stages {
            body["at_stages"] = json!(if what == AtStages::Pass { "pass" } else { "hold" });
        }
        if let Some(tolerance) = &self.fault_tolerance {
            body["fault_tolerance"] = json!(tolerance);
        }
        if let Some(seconds) = self.lost_after {
            body["lost_after"] = json!(seconds);
        }
        if let Some(n_nodes) = self.nodes_at_once {
            body["nodes_at_once"] = json!(n_nodes);
        }
        body
    }
}
