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

    /// How many nodes carry out something at the same time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    nodes_at_once: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OnFailure {
    Stop,
    Continue,
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
        if let Some(n_nodes) = self.nodes_at_once {
            body["nodes_at_once"] = json!(n_nodes);
        }
        body
    }
}
