//! Which cluster is meant.

/// A cluster, by its id: alone, or after `--env`.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub(crate) struct EnvArg {
    /// Id of the cluster
    #[arg(value_name = "ENV")]
    env_id: Option<i64>,

    /// Id of the cluster
    #[arg(long, short, value_name = "ID", visible_alias = "env-id")]
    env: Option<i64>,
}

impl EnvArg {
    pub(crate) fn id(&self) -> i64 {
        // One of them is there: the group is required.
        self.env_id.or(self.env).unwrap_or_default()
    }
}
