use crate::exit::Outcome;
use crate::remote::Remote;

/// Revoke tokens: no agent joins with them any more; those that have stay
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker join-token delete 7")]
pub(super) struct Args {
    /// Ids of the tokens
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
