use super::enable::{Switch, switch};
use crate::exit::Outcome;
use crate::remote::{Remote, Shared};

/// Disable a plugin in a cluster
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A plugin of which nodes have a role cannot be disabled.

Examples:
  stoker plugin disable gridnet --env 1")]
pub(super) struct Args {
    /// Id or name of the plugin
    #[arg(value_name = "PLUGIN")]
    plugin: String,

    /// Id of the cluster
    #[arg(long, value_name = "CLUSTER")]
    env: i64,

    /// Even if the cluster is deployed and the plugin is not hot-pluggable
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    pub(super) options: Shared,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    switch(remote, Switch { plugin: &args.plugin, cluster: args.env, force: args.force, enabled: false })
}
