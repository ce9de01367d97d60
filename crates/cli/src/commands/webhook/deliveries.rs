use stoker_client::RestRequest;

use super::DELIVERY;
use super::find::webhook_path;
use crate::exit::Outcome;
use crate::remote::Remote;

/// List deliveries of a webhook, newest first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker webhook deliveries chat
  stoker webhook deliveries chat --status failed --limit 100")]
pub(super) struct Args {
    /// Webhook ID or name
    #[arg(value_name = "WEBHOOK")]
    webhook: String,

    /// Filter by status
    #[arg(long, value_name = "STATUS", value_parser = ["pending", "delivered", "failed"])]
    status: Option<String>,

    /// Maximum number of deliveries to list
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: u64,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let path = webhook_path(remote, &args.webhook)?;
    let request = RestRequest::get(format!("{path}/deliveries"));
    let request = request.query_opt("status", args.status.as_ref()).query_opt("limit", Some(args.limit));
    let deliveries = remote.get_list(&request)?;
    remote.list(DELIVERY, deliveries)
}
