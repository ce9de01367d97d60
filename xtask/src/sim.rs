//! `cargo xtask sim`: builds `crates/sim` and simulates a range of seeds.

use std::process::Command as Process;

use crate::args::Args;
use crate::command::Command;
use crate::failure::Failure;
use crate::process::run;
use crate::workspace::{self, Metadata, Profile};

const N_SEEDS: u64 = 20_000;

pub(crate) const COMMAND: Command = Command {
    name: "sim",
    about: "simulate runs with crashes, lost connections and full disks, and check invariants",
    help: "\
Usage: cargo xtask sim [--seeds N] [--from S] | --seed S

Runs deterministic simulations of servers, agents, disks and networks around the real state machines of runs and
sessions. Stops at the first seed that violates an invariant and prints how to replay it.

  --seeds N    Number of seeds (default 20000)
  --from S     First seed (default 0)
  --seed S     A single seed, with a log of all events
",
    run: |mut args: Args| {
        let (n_seeds, first, seed) = (args.number("--seeds")?, args.number("--from")?, args.number("--seed")?);
        args.finish()?;
        if seed.is_some() && (n_seeds.is_some() || first.is_some()) {
            return Err(Failure::new("`--seed` runs a single seed and excludes `--seeds` and `--from`"));
        }
        let root = workspace::root();
        let program = Metadata::load(&root)?.build_binary(&root, "stoker-sim", Profile::Dev)?;
        let mut command = Process::new(program);
        match seed {
            Some(seed) => command.args(["--tell", &seed.to_string()]),
            None => command.args([first.unwrap_or(0).to_string(), n_seeds.unwrap_or(N_SEEDS).to_string()]),
        };
        run(&mut command)
    },
};
