//! `cargo xtask sim`: builds `crates/sim` and simulates a range of seeds.

use std::process::Command as Process;

use crate::args::Args;
use crate::command::Command;
use crate::failure::Failure;
use crate::process::run;
use crate::workspace::{self, Metadata, Profile};

const N_SEEDS: u64 = 20_000;
/// 2.5 s of processor time per 100 histories, unoptimized.
const N_HISTORIES: u64 = 100_000;

pub(crate) const COMMAND: Command = Command {
    name: "sim",
    about: "simulate runs with crashes, lost connections and full disks, and check invariants",
    help: "\
Usage: cargo xtask sim [plans] [--seeds N] [--from S] | --seed S

Runs deterministic simulations of servers, agents, disks and networks around the real state machines of runs and
sessions. Stops at the first seed that violates an invariant and prints how to replay it.

With `plans`, simulates histories of clusters instead: edits, replaced machines, and runs that succeed or fail. Compares
each plan with an independent oracle and with the contents of the simulated machines. Prints the shrunk history of
the first seed with a difference.

  --seeds N    Number of seeds (default 20000; plans: 100000)
  --from S     First seed (default 0)
  --seed S     A single seed; for runs, with a log of all events
",
    run: |mut args: Args| {
        let (n_seeds, first, seed) = (args.number("--seeds")?, args.number("--from")?, args.number("--seed")?);
        let subject = args.positional();
        let is_plans = match subject.as_deref() {
            None => false,
            Some("plans") => true,
            Some(other) => return Err(Failure::new(format!("`{other}` cannot be simulated; did you mean `plans`?"))),
        };
        args.finish()?;
        if seed.is_some() && (n_seeds.is_some() || first.is_some()) {
            return Err(Failure::new("`--seed` runs a single seed and excludes `--seeds` and `--from`"));
        }
        let root = workspace::root();
        let program = Metadata::load(&root)?.build_binary(&root, "stoker-sim", Profile::Dev)?;
        let mut command = Process::new(program);
        let range = |n_default| [first.unwrap_or(0).to_string(), n_seeds.unwrap_or(n_default).to_string()];
        match seed {
            Some(seed) if is_plans => command.args(["plans", &seed.to_string()]),
            None if is_plans => command.arg("plans").args(range(N_HISTORIES)),
            Some(seed) => command.args(["--tell", &seed.to_string()]),
            None => command.args(range(N_SEEDS)),
        };
        run(&mut command)
    },
};
