//! Dry-run host: reports the actions that would be executed and changes nothing.

use std::path::{Path, PathBuf};

use super::{
    Command, CommandEffect, Exit, FileEntry, Host, HostChange, HostError, HostFuture, Probe, ProbeResult,
    QueryResult, UnitState,
};

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

    fn query(&self, command: Command) -> HostFuture<'_, Result<QueryResult, HostError>> {
        self.host.query(command)
    }

    fn change(&self, change: HostChange) -> HostFuture<'_, Result<(), HostError>> {
        self.host.log(&format!("would {change}"));
        Box::pin(async { Ok(()) })
    }

    fn inspect<'a>(&'a self, path: &'a Path) -> HostFuture<'a, Result<Option<FileEntry>, HostError>> {
        self.host.inspect(path)
    }

    fn inspect_link<'a>(&'a self, path: &'a Path) -> HostFuture<'a, Result<Option<FileEntry>, HostError>> {
        self.host.inspect_link(path)
    }

    fn read<'a>(&'a self, path: &'a Path) -> HostFuture<'a, Result<Vec<u8>, HostError>> {
        self.host.read(path)
    }

    fn unit<'a>(&'a self, name: &'a str) -> HostFuture<'a, Result<UnitState, HostError>> {
        self.host.unit(name)
    }

    fn probe<'a>(&'a self, probe: &'a Probe) -> HostFuture<'a, Result<ProbeResult, HostError>> {
        self.host.probe(probe)
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
