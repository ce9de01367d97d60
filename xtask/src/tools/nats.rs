//! NATS, of which tests and the demo of several servers start private ones.

use std::path::Path;

use super::debian;
use crate::failure::{Failure, Outcome};
use crate::process::which;

const PROGRAM: &str = "nats-server";
/// Debian keeps it where only root looks for programs.
const SYSTEM_FOLDER: &str = "/usr/sbin";

/// Makes sure that the server program is there.
pub(crate) fn ensure() -> Outcome {
    if is_installed() {
        return Ok(());
    }
    debian::install(&debian::NATS)?;
    if is_installed() {
        return Ok(());
    }
    Err(Failure::new(format!("`{}` is installed and has no `{PROGRAM}`", debian::NATS.name)))
}

fn is_installed() -> bool {
    which(PROGRAM).is_some() || Path::new(SYSTEM_FOLDER).join(PROGRAM).is_file()
}
