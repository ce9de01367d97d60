use crate::exit::Outcome;
use crate::remote::Remote;

/// Revoke join tokens; agents that already joined are not affected
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker join-token delete 7")]
pub(super) struct Args {
    /// Join token IDs
    #[arg(value_name = "TOKEN", required = true)]
    tokens: Vec<i64>,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    for id in &args.tokens {
        remote.delete(format!("join_tokens/{id}"))?;
        remote.note(&format!("revoked join token {id}"));
    }
    Ok(())
}
