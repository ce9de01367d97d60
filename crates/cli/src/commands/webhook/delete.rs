use super::find::webhook_path;
use crate::exit::Outcome;
use crate::remote::Remote;

/// Delete a webhook and its pending deliveries
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker webhook delete chat
  stoker webhook delete chat --yes")]
pub(super) struct Args {
    /// Webhook ID or name
    #[arg(value_name = "WEBHOOK")]
    webhook: String,

    /// Skip the confirmation prompt
    #[arg(long, short)]
    yes: bool,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let path = webhook_path(remote, &args.webhook)?;
    crate::remote::confirm(
        &format!("Delete webhook {}? Its pending deliveries are discarded.", args.webhook),
        args.yes,
    )?;
    remote.delete(path)?;
    remote.note(&format!("deleted webhook {}", args.webhook));
    Ok(())
}
