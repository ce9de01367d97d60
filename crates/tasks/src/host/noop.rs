//! Dry-run host: reports the actions that would be executed and changes nothing.

use std::path::{Path, PathBuf};

use super::{Command, CommandEffect, Exit, FileToWrite, Host, HostError, HostFuture};

/// Executes read-only programs on the inner host and only reports all other operations.
pub struct Noop<H> {
    host: H,
}

impl<H: Host> Noop<H> {
    pub fn new(host: H) -> Self {
        Self { host }
    }
}

impl<H: Host> Host for Noop<H> {
    fn run(&self, command: Command) -> HostFuture<'_, Result<Exit, HostError>> {
        if command.effect == CommandEffect::Reads {
            return self.host.run(command);
        }
        self.host.log(&format!("would run: {}", command.display()));
        Box::pin(async { Ok(Exit::default()) })
    }

    fn write(&self, file: FileToWrite) -> HostFuture<'_, Result<(), HostError>> {
        Box::pin(async move {
            let verb = if self.host.exists(&file.path).await? { "overwrite" } else { "create" };
            let (path, n_bytes) = (file.path.display(), file.data.len());
            self.host.log(&format!("would {verb} {path}: {n_bytes} bytes, mode {:04o}", file.permissions));
            Ok(())
        })
    }

    fn exists<'a>(&'a self, path: &'a Path) -> HostFuture<'a, Result<bool, HostError>> {
        self.host.exists(path)
    }

    fn reboot(&self) -> HostFuture<'_, Result<(), HostError>> {
        self.host.log("would reboot");
        Box::pin(async { Ok(()) })
    }

    fn hook(&self, name: &str) -> Option<PathBuf> {
        self.host.hook(name)
    }

    fn log(&self, line: &str) {
        self.host.log(line);
    }
}
