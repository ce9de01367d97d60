//! `cargo xtask sim`: the simulation, for as many seeds as one has patience for; the work is in `crates/sim`.

use std::process::Command as Process;

use crate::args::Args;
use crate::command::Command;
use crate::failure::Failure;
use crate::process::run;
use crate::workspace::{self, Metadata, Profile};

const N_SEEDS: u64 = 20_000;

pub(crate) const COMMAND: Command = Command {
    name: "sim",
    about: "play runs with crashes, lost connections and full disks, and look for broken rules",
    help: "\
Usage: cargo xtask sim [--seeds N] [--from S] | --seed S

Plays seeded simulations of servers, agents, disks and networks over the real machines of runs and sessions. Stops at the
first seed that breaks a rule and says how to see it again.

  --seeds N    how many seeds (default 20000)
  --from S     the first of them (default 0)
  --seed S     one seed, with everything that happens
",
    run: |mut args: Args| {
        let (n_seeds, first, seed) = (args.number("--seeds")?, args.number("--from")?, args.number("--seed")?);
        args.finish()?;
        if seed.is_some() && (n_seeds.is_some() || first.is_some()) {
            return Err(Failure::new("`--seed` plays one seed; leave `--seeds` and `--from` out"));
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
