use stoker_client::Request;

use super::DELIVERY;
use super::find::webhook_path;
use crate::exit::Outcome;
use crate::remote::Remote;

/// List what a webhook was told, the newest first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker webhook deliveries chat
  stoker webhook deliveries chat --status failed --limit 100")]
pub(super) struct Args {
    /// Id or name of the webhook
    #[arg(value_name = "WEBHOOK")]
    webhook: String,

    /// Only those that are so
    #[arg(long, value_name = "STATUS", value_parser = ["pending", "delivered", "failed"])]
    status: Option<String>,

    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: u64,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let path = webhook_path(remote, &args.webhook)?;
    let request = Request::get(format!("{path}/deliveries"));
    let request = request.maybe("status", args.status.as_ref()).maybe("limit", Some(args.limit));
    let listed = remote.get_list(&request)?;
    remote.list(DELIVERY, listed)
}
