use stoker_client::RestRequest;

use crate::exit::Outcome;
use crate::remote::Remote;

/// List releases
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker release list
  stoker release list --output json")]
pub(super) struct Args {}

pub(super) fn run(remote: &mut Remote<'_>) -> Outcome {
    let releases = remote.get_list(&RestRequest::get("releases"))?;
    remote.list(
        &[
            ("id", "id"),
            ("name", "name"),
            ("version", "version"),
            ("operating system", "operating_system"),
            ("state", "state"),
            ("description", "description"),
        ],
        releases,
    )
}
