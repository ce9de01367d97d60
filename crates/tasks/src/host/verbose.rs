//! Host wrapper for debug runs: reports each action before executing it.

use std::path::{Path, PathBuf};

use super::{
    Command, Exit, FileEntry, Host, HostChange, HostError, HostFuture, Probe, ProbeResult, QueryResult,
    UnitState,
};

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

    fn query(&self, command: Command) -> HostFuture<'_, Result<QueryResult, HostError>> {
        self.host.log(&format!("querying: {}", command.display()));
        self.host.query(command)
    }

    fn change(&self, change: HostChange) -> HostFuture<'_, Result<(), HostError>> {
        self.host.log(&format!("next change: {change}"));
        self.host.change(change)
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
