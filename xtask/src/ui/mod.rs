//! `cargo xtask ui`: the web interface, built into `ui/dist`, from where the server takes it.

mod npm;
mod stamp;

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::args::Args;
use crate::command::Command;
use crate::failure::Outcome;
use crate::process::run as run_command;
use crate::terminal::print_line;
use crate::workspace;

pub(crate) use npm::npm;

pub(crate) const COMMAND: Command = Command {
    name: "ui",
    about: "build the web interface, so that the server has it inside",
    help: "\
Usage: cargo xtask ui

Installs what the web interface is built with (npm ci) and builds it into `ui/dist`, unless nothing has changed since. A
development build of the server reads that folder; a release build has it inside.
Needs Node 20.19 or newer with npm.
",
    run: |args: Args| {
        args.finish()?;
        build(&workspace::root())
    },
};

/// Builds the interface if something has changed.
pub(crate) fn build(root: &Path) -> Outcome {
    let wanted = stamp::of_sources(root)?;
    if stamp::of_build(root).as_deref() == Some(wanted.as_str()) {
        print_line("ui/dist is up to date");
        return Ok(());
    }
    prepare(root)?;
    run_command(npm(root)?.args(["run", "--silent", "build"]))?;
    stamp::keep(root, &wanted)
}

/// Installs the packages of the lock file and generates the types of the API.
pub(crate) fn prepare(root: &Path) -> Outcome {
    // Steps of `cargo xtask test` run in two threads; `npm ci` deletes the folder that the other one would use.
    static PREPARE: Mutex<()> = Mutex::new(());
    let _guard = PREPARE.lock().unwrap_or_else(PoisonError::into_inner);
    let wanted = stamp::of_lock(root)?;
    if stamp::of_packages(root).as_deref() != Some(wanted.as_str()) {
        run_command(npm(root)?.args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]))?;
        stamp::keep_packages(root, &wanted)?;
    }
    run_command(npm(root)?.args(["run", "--silent", "api"]))
}
