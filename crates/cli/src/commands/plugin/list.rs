use stoker_client::RestRequest;

use crate::exit::Outcome;
use crate::remote::{Remote, SharedOptions};

/// List installed plugins
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker plugin list
  stoker plugin list --output json")]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) options: SharedOptions,
}

pub(super) fn run(remote: &mut Remote<'_>) -> Outcome {
    let plugins = remote.get_list(&RestRequest::get("plugins"))?;
    remote.list(
        &[
            ("id", "id"),
            ("name", "name"),
            ("version", "version"),
            ("package version", "package_version"),
            ("hot-pluggable", "is_hotpluggable"),
            ("title", "title"),
        ],
        plugins,
    )
}
