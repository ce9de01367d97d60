//! A host that says what it does before it does it: how a run is followed that was started with `debug`.

use std::path::{Path, PathBuf};

use super::{Command, Exit, FileToWrite, Host, HostError, Work};

/// Everything is passed on to the host underneath.
pub struct Telling<H> {
    host: H,
}

impl<H: Host> Telling<H> {
    pub fn new(host: H) -> Self {
        Self { host }
    }
}

impl<H: Host> Host for Telling<H> {
    fn run(&self, command: Command) -> Work<'_, Result<Exit, HostError>> {
        let folder = if command.cwd == "/" { String::new() } else { format!(" (in {})", command.cwd) };
        self.host.say(&format!("runs: {}{folder}", command.shown()));
        self.host.run(command)
    }

    fn write(&self, file: FileToWrite) -> Work<'_, Result<(), HostError>> {
        let (path, n_bytes) = (file.path.display(), file.data.len());
        self.host.say(&format!("writes {path}: {n_bytes} bytes, mode {:04o}", file.permissions));
        self.host.write(file)
    }

    fn exists<'a>(&'a self, path: &'a Path) -> Work<'a, Result<bool, HostError>> {
        self.host.exists(path)
    }

    fn reboot(&self) -> Work<'_, Result<(), HostError>> {
        self.host.say("reboots");
        self.host.reboot()
    }

    fn hook(&self, name: &str) -> Option<PathBuf> {
        self.host.hook(name)
    }

    fn say(&self, line: &str) {
        self.host.say(line);
    }
}
