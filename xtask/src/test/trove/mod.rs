//! Runs python-troveclient, the public client of the module API, unmodified against a server with local agents.

use std::env;
use std::fs;
use std::process::{self, Command};

use super::contract::server::{PASSWORD, Server};
use super::{Cx, Done};
use crate::failure::{Context as _, Outcome};
use crate::process::run as run_command;
use crate::terminal::print_line;
use crate::tools::trove;

const SCRIPT: &str = "xtask/src/test/trove/drive.py";

pub(super) fn run(cx: &Cx) -> Outcome<Done> {
    let python = trove::python(&cx.metadata.target_dir)?;
    let stoker = cx.program()?;
    let server = Server::start_with(&stoker, "trove", &["--local-agents"])?;
    let folder = env::temp_dir().join(format!("stoker-trove-work-{}", process::id()));
    fs::create_dir_all(&folder).context(format!("cannot create `{}`", folder.display()))?;
    let mut command = Command::new(python);
    command
        .arg(cx.root.join(SCRIPT))
        .env("STOKER_URL", &server.url)
        .env("STOKER_PASSWORD", PASSWORD)
        .env("STOKER_FOLDER", &folder);
    let outcome = run_command(&mut command);
    // The files are kept for inspection if the client failed.
    if outcome.is_ok() {
        _ = fs::remove_dir_all(&folder);
    } else {
        for line in server.error_lines() {
            print_line(&line);
        }
    }
    outcome.map(|()| Done::Passed)
}
