//! `cargo xtask ui`: builds the web UI into `ui/dist`, from which the server serves or embeds it.

mod npm;
mod stamp;

use std::path::Path;

use parking_lot::Mutex;

use crate::args::Args;
use crate::command::Command;
use crate::failure::Outcome;
use crate::process::run as run_command;
use crate::terminal::print_line;
use crate::workspace;

pub(crate) use npm::npm;

pub(crate) const COMMAND: Command = Command {
    name: "ui",
    about: "build the web UI into ui/dist",
    help: "\
Usage: cargo xtask ui

Installs the packages of the lock file (npm ci) and builds the web UI into `ui/dist` if a source file has changed. A
development build of the server reads that directory; a release build embeds it. Needs Node 20.19 or newer with npm.
",
    run: |args: Args| {
        args.finish()?;
        build(&workspace::root())
    },
};

/// Steps of `cargo xtask test` run in two threads. While one of them installs packages or builds, the other must
/// neither use `node_modules` nor read `ui/dist`: `npm ci` and the build delete them first.
static PREPARATION: Mutex<()> = Mutex::new(());

/// Builds the web UI if a source file has changed.
pub(crate) fn build(root: &Path) -> Outcome {
    let _guard = PREPARATION.lock();
    let current = stamp::of_sources(root)?;
    if stamp::of_build(root).as_deref() == Some(current.as_str()) {
        print_line("ui/dist is up to date");
        return Ok(());
    }
    install(root)?;
    run_command(npm(root)?.args(["run", "--silent", "build"]))?;
    stamp::write_build(root, &current)
}

/// Installs the packages of the lock file and generates the types of the API.
pub(crate) fn prepare(root: &Path) -> Outcome {
    let _guard = PREPARATION.lock();
    install(root)
}

fn install(root: &Path) -> Outcome {
    let current = stamp::of_lock(root)?;
    if stamp::of_packages(root).as_deref() != Some(current.as_str()) {
        run_command(npm(root)?.args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]))?;
        stamp::write_packages(root, &current)?;
    }
    run_command(npm(root)?.args(["run", "--silent", "api"]))
}
