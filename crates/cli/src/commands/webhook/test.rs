use std::time::Duration;

use serde_json::json;
use stoker_client::Method;

use super::DELIVERY;
use super::find::webhook_path;
use crate::exit::{Failure, Outcome};
use crate::remote::{Remote, cell};

const LOOK: Duration = Duration::from_millis(200);
/// Longer than the server waits for an answer, unless somebody chose otherwise.
const N_LOOKS: usize = 100;

/// Tell a webhook something, and see what comes of it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Waits for the first try. The server goes on trying if it fails.

Examples:
  stoker webhook test chat")]
pub(super) struct Args {
    /// Id or name of the webhook
    #[arg(value_name = "WEBHOOK")]
    webhook: String,
}

#[expect(
    clippy::disallowed_methods,
    reason = "the server is asked from time to time, which nothing here can wait for"
)]
pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let path = webhook_path(remote, &args.webhook)?;
    let sent = remote.send_json(Method::Post, format!("{path}/test"), &json!({}))?;
    let path = format!("{path}/deliveries/{}", cell(&sent["id"]));
    for _ in 0..N_LOOKS {
        let delivery = remote.get(path.clone())?;
        if !delivery["tried_at"].is_null() {
            remote.details(DELIVERY, &delivery)?;
            return if delivery["status"] == "delivered" {
                Ok(())
            } else {
                let problem = delivery["problem"].as_str().unwrap_or("nobody knows why");
                Err(Failure::failed(format!("the webhook was not told: {problem}")))
            };
        }
        std::thread::sleep(LOOK);
    }
    let mut failure = Failure::failed("nothing was sent yet");
    failure.diagnostics[0].help = Some("`stoker webhook deliveries` shows what becomes of it".to_owned());
    Err(failure)
}
