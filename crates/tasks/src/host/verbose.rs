//! Host wrapper for debug runs: reports each action before executing it.

use std::path::{Path, PathBuf};

use super::{Command, Exit, FileToWrite, Host, HostError, HostFuture};

/// Forwards every operation to the inner host.
pub struct Verbose<H> {
    host: H,
}

impl<H: Host> Verbose<H> {
    pub fn new(host: H) -> Self {
        Self { host }
    }
}

impl<H: Host> Host for Verbose<H> {
    fn run(&self, command: Command) -> HostFuture<'_, Result<Exit, HostError>> {
        let folder = if command.cwd == "/" { String::new() } else { format!(" (in {})", command.cwd) };
        self.host.log(&format!("running: {}{folder}", command.display()));
        self.host.run(command)
    }

    fn write(&self, file: FileToWrite) -> HostFuture<'_, Result<(), HostError>> {
        let (path, n_bytes) = (file.path.display(), file.data.len());
        self.host.log(&format!("writing {path}: {n_bytes} bytes, mode {:04o}", file.permissions));
        self.host.write(file)
    }

    fn exists<'a>(&'a self, path: &'a Path) -> HostFuture<'a, Result<bool, HostError>> {
        self.host.exists(path)
    }

    fn reboot(&self) -> HostFuture<'_, Result<(), HostError>> {
        self.host.log("rebooting");
        self.host.reboot()
    }

    fn hook(&self, name: &str) -> Option<PathBuf> {
        self.host.hook(name)
    }

    fn log(&self, line: &str) {
        self.host.log(line);
    }
}
