use stoker_client::RestRequest;

use super::MODULES;
use crate::exit::Outcome;
use crate::remote::Remote;

/// List modules
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker module list
  stoker module list --datastore mysql --output json")]
pub(super) struct Args {
    /// Filter by release name; `all` for modules without a release
    #[arg(long, value_name = "RELEASE")]
    datastore: Option<String>,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let response = remote.send(&RestRequest::get(MODULES).query_opt("datastore", args.datastore.as_ref()))?;
    remote.list(
        &[
            ("id", "id"),
            ("name", "name"),
            ("type", "type"),
            ("release", "datastore"),
            ("version", "datastore_version"),
            ("tenant", "tenant"),
            ("priority", "priority_apply"),
            ("order", "apply_order"),
            ("auto", "auto_apply"),
            ("admin", "is_admin"),
            ("visible", "visible"),
        ],
        response["modules"].as_array().cloned().unwrap_or_default(),
    )
}
