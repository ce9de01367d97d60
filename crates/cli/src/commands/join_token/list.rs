use stoker_client::RestRequest;

use crate::exit::Outcome;
use crate::remote::Remote;

/// List join tokens
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker join-token list")]
pub(super) struct Args {}

pub(super) fn run(remote: &mut Remote<'_>) -> Outcome {
    let tokens = remote.get_list(&RestRequest::get("join_tokens"))?;
    remote.list(
        &[
            ("id", "id"),
            ("label", "label"),
            ("uses left", "uses_left"),
            ("may replace", "may_replace"),
            ("created", "created_at"),
            ("expires", "expires_at"),
        ],
        tokens,
    )
}
