use super::find::webhook_path;
use crate::exit::Outcome;
use crate::remote::Remote;

/// Show a webhook
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker webhook show chat
  stoker webhook show 1 --output yaml")]
pub(super) struct Args {
    /// Webhook ID or name
    #[arg(value_name = "WEBHOOK")]
    webhook: String,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let path = webhook_path(remote, &args.webhook)?;
    let webhook = remote.get(path)?;
    remote.details(
        &[
            ("id", "id"),
            ("name", "name"),
            ("url", "url"),
            ("topics", "topics"),
            ("cluster", "cluster"),
            ("enabled", "enabled"),
            ("created", "created_at"),
        ],
        &webhook,
    )
}
