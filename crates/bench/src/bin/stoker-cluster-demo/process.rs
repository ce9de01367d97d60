//! Child processes that are killed on drop.

use std::fs::OpenOptions;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::Outcome;

/// A child process that is killed when this handle is dropped.
pub(crate) struct Process(Child);

impl Process {
    pub(crate) fn start(command: &mut Command, log: &Path) -> Outcome<Self> {
        let log =
            OpenOptions::new().create(true).append(true).open(log).map_err(|error| error.to_string())?;
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn();
        child.map(Self).map_err(|error| format!("cannot start `stoker`: {error}"))
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.0.try_wait().is_ok_and(|status| status.is_some())
    }

    /// Sends SIGKILL.
    pub(crate) fn kill(&mut self) {
        // The process may have exited already.
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
