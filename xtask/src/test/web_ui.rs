//! The web UI: its checks, and its pages in a browser against a real server.

use super::{Cx, Done};
use crate::failure::Outcome;
use crate::process::{run, which};
use crate::tools::debian;
use crate::ui::{build as build_ui, npm, prepare};

/// The directory for screenshots of all pages, below the target directory.
const SCREENSHOTS: &str = "screenshots";

/// Builds `ui/dist` if a source file changed. Comes before the cargo build, which embeds that directory into
/// the server of a release build.
pub(super) fn build(cx: &Cx) -> Outcome<Done> {
    build_ui(&cx.root)?;
    Ok(Done::Passed)
}

/// Runs lints, type checks and unit tests, and checks the size of the built files.
pub(super) fn check(cx: &Cx) -> Outcome<Done> {
    build_ui(&cx.root)?;
    prepare(&cx.root)?;
    for script in ["lint", "check", "test", "weight"] {
        run(npm(&cx.root)?.args(["run", "--silent", script]))?;
    }
    Ok(Done::Passed)
}

pub(super) fn browse(cx: &Cx) -> Outcome<Done> {
    if which("chromium").is_none() {
        debian::install(&debian::CHROMIUM)?;
    }
    build_ui(&cx.root)?;
    prepare(&cx.root)?;
    run(npm(&cx.root)?
        .args(["run", "--silent", "browser"])
        .env("STOKER_PROGRAM", cx.program()?)
        .env("STOKER_SCREENSHOTS", cx.metadata.target_dir.join(SCREENSHOTS)))?;
    Ok(Done::Passed)
}
