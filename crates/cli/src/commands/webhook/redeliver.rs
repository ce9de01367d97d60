use serde_json::json;
use stoker_client::Method;

use super::find::webhook_path;
use crate::exit::Outcome;
use crate::remote::Remote;

/// Send a delivery to the webhook again
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker webhook redeliver chat 12")]
pub(super) struct Args {
    /// Webhook ID or name
    #[arg(value_name = "WEBHOOK")]
    webhook: String,

    /// Delivery ID
    #[arg(value_name = "DELIVERY")]
    delivery: i64,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let path = webhook_path(remote, &args.webhook)?;
    let path = format!("{path}/deliveries/{}/redeliver", args.delivery);
    let delivery = remote.send_json(Method::Post, path, &json!({}))?;
    remote.report_change("queued delivery", &delivery)
}
