use super::enable::{Switch, switch};
use crate::exit::Outcome;
use crate::remote::{Remote, SharedOptions};

/// Disable a plugin in a cluster
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A plugin cannot be disabled while nodes have one of its roles.

Examples:
  stoker plugin disable gridnet --env 1")]
pub(super) struct Args {
    /// Plugin ID, name (newest version) or `NAME==VERSION`
    #[arg(value_name = "PLUGIN")]
    plugin: String,

    /// Cluster ID
    #[arg(long, short, value_name = "ID", visible_aliases = ["env-id", "cluster"])]
    env: i64,

    /// Disable even if the cluster is deployed and the plugin is not hot-pluggable
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    pub(super) options: SharedOptions,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    switch(remote, Switch { plugin: &args.plugin, cluster: args.env, force: args.force, enabled: false })
}
