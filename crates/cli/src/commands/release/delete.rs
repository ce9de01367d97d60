use crate::exit::Outcome;
use crate::remote::Remote;

/// Delete a release that no cluster uses
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker release delete 1")]
pub(super) struct Args {
    /// Release ID
    #[arg(value_name = "RELEASE")]
    release: i64,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let release = args.release;
    remote.delete(format!("releases/{release}"))?;
    remote.note(&format!("deleted release {release}"));
    Ok(())
}
