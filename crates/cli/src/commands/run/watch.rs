use super::follow::follow;
use crate::exit::Outcome;
use crate::remote::Remote;

/// Show how a run goes, until its end
#[derive(Debug, clap::Args)]
#[command(after_help = "\
On a terminal there is a line for each node with its progress, what it does now, how long it took and how long it
may take yet. Elsewhere a line is written for everything that happens. The exit code is 1 if the run fails.

Examples:
  stoker run watch 7
  stoker run watch 7 | tee run-7.log")]
pub(super) struct Args {
    /// Id of the run
    #[arg(value_name = "RUN")]
    run: i64,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    follow(remote, args.run)
}
