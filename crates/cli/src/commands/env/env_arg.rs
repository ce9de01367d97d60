//! Argument that selects a cluster.

/// A cluster ID, as a positional argument or after `--env`.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub(crate) struct EnvArg {
    /// Cluster ID
    #[arg(value_name = "ENV")]
    env_id: Option<i64>,

    /// Cluster ID; alternative to the argument ENV
    #[arg(long, short, value_name = "ID", visible_aliases = ["env-id", "cluster"])]
    env: Option<i64>,
}

impl EnvArg {
    pub(crate) fn id(&self) -> i64 {
        // The required group guarantees that one of them is set.
        self.env_id.or(self.env).unwrap_or_default()
    }
}
