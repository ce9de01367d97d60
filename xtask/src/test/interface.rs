//! The web interface: its own checks, and its pages in a browser against a real server.

use super::{Cx, Done};
use crate::failure::Outcome;
use crate::process::{run, which};
use crate::tools::debian;
use crate::ui::{build, npm, prepare};
use crate::workspace::Profile;

/// Where the pictures of all pages go, under the target folder.
const PICTURES: &str = "screenshots";

/// Lints, types, unit tests, the build and its weight.
pub(super) fn check(cx: &Cx) -> Outcome<Done> {
    prepare(&cx.root)?;
    for script in ["lint", "check", "test"] {
        run(npm(&cx.root)?.args(["run", "--silent", script]))?;
    }
    build(&cx.root)?;
    run(npm(&cx.root)?.args(["run", "--silent", "weight"]))?;
    Ok(Done::Passed)
}

pub(super) fn browser(cx: &Cx) -> Outcome<Done> {
    if which("chromium").is_none() {
        debian::install(&debian::CHROMIUM)?;
    }
    build(&cx.root)?;
    prepare(&cx.root)?;
    let program = cx.metadata.build_stoker(&cx.root, Profile::Dev)?;
    run(npm(&cx.root)?
        .args(["run", "--silent", "browser"])
        .env("STOKER_PROGRAM", program)
        .env("STOKER_SCREENSHOTS", cx.metadata.target_dir.join(PICTURES)))?;
    Ok(Done::Passed)
}
