use super::follow::follow;
use crate::exit::Outcome;
use crate::remote::Remote;

/// Follow a run until it ends
#[derive(Debug, clap::Args)]
#[command(after_help = "\
On a terminal, shows a line per node with its progress, running tasks, elapsed and estimated remaining time. Otherwise,
prints a line per event. Exits with code 1 if the run fails, and with
code 6 if offline nodes were left out.

Examples:
  stoker run watch 7
  stoker run watch 7 | tee run-7.log")]
pub(super) struct Args {
    /// Run ID
    #[arg(value_name = "RUN")]
    run: i64,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    follow(remote, args.run)
}
