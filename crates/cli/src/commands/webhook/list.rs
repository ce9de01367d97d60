use stoker_client::RestRequest;

use crate::exit::Outcome;
use crate::remote::Remote;

/// List webhooks
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker webhook list
  stoker webhook list --output json")]
pub(super) struct Args {}

pub(super) fn run(_: &Args, remote: &mut Remote<'_>) -> Outcome {
    let webhooks = remote.get_list(&RestRequest::get("webhooks"))?;
    remote.list(
        &[
            ("id", "id"),
            ("name", "name"),
            ("url", "url"),
            ("topics", "topics"),
            ("cluster", "cluster"),
            ("enabled", "enabled"),
        ],
        webhooks,
    )
}
