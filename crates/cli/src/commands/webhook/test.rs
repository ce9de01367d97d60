use std::time::Duration;

use serde_json::json;
use stoker_api_types::webhooks::DeliveryView;
use stoker_client::Method;

use super::DELIVERY;
use super::find::webhook_path;
use crate::exit::{Failure, Outcome};
use crate::remote::{Remote, typed};

const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// Maximum number of polls: 20 s, longer than the default request timeout of the server.
const N_POLLS: usize = 100;

/// Send a test delivery and wait for the result
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Waits for the first attempt. If that attempt fails, the server retries in the background.

Examples:
  stoker webhook test chat")]
pub(super) struct Args {
    /// Webhook ID or name
    #[arg(value_name = "WEBHOOK")]
    webhook: String,
}

#[expect(clippy::disallowed_methods, reason = "the delivery is polled; the API has no blocking request")]
pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let path = webhook_path(remote, &args.webhook)?;
    let queued = remote.send_json(Method::Post, format!("{path}/test"), &json!({}))?;
    let path = format!("{path}/deliveries/{}", typed::<DeliveryView>(&queued)?.id);
    for _ in 0..N_POLLS {
        let response = remote.get(path.clone())?;
        let delivery: DeliveryView = typed(&response)?;
        if delivery.tried_at.is_some() {
            remote.details(DELIVERY, &response)?;
            return if delivery.status == "delivered" {
                Ok(())
            } else {
                let problem = delivery.problem.as_deref().unwrap_or("unknown error");
                Err(Failure::failed(format!("test delivery failed: {problem}")))
            };
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    let mut failure = Failure::failed("timed out waiting for the first delivery attempt");
    failure.diagnostics[0].help = Some("run `stoker webhook deliveries` to see its status".to_owned());
    Err(failure)
}
