//! Locates the programs of PostgreSQL and runs them as the right user.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Directory into which Debian installs each version separately, outside the search path.
const VERSIONED: &str = "/usr/lib/postgresql";
const MISSING: &str = "PostgreSQL is not installed; run `apt-get install postgresql`, \
                       or set STOKER_TEST_SKIP=postgres to skip the tests that need it";

pub(super) struct Programs {
    folder: PathBuf,
    is_root: bool,
}

impl Programs {
    pub(super) fn find() -> Result<Self, String> {
        let folder = newest_versioned().or_else(on_search_path).ok_or_else(|| MISSING.to_owned())?;
        let process =
            std::fs::metadata("/proc/self").map_err(|error| format!("cannot read `/proc`: {error}"))?;
        Ok(Self { folder, is_root: process.uid() == 0 })
    }

    /// Returns a command that runs a program of PostgreSQL. The server refuses to run as root, so root runs
    /// it as the user `postgres`.
    pub(super) fn command(&self, name: &str) -> Command {
        let program = self.folder.join(name);
        if !self.is_root {
            return Command::new(program);
        }
        let mut command = Command::new("setpriv");
        command.args(["--reuid=postgres", "--regid=postgres", "--init-groups"]).arg(program);
        command
    }

    /// Returns the major version of the server, 0 if unknown.
    pub(super) fn major_version(&self) -> u32 {
        // Debian's directory is `15/bin`; a process for each test would cost more than it saves.
        let version = self.folder.parent().and_then(|folder| folder.file_name()?.to_str()?.parse().ok());
        version.unwrap_or_else(|| {
            let output = Command::new(self.folder.join("postgres")).arg("--version").output();
            output.map_or(0, |output| parse_version(&String::from_utf8_lossy(&output.stdout)))
        })
    }

    /// Makes the server's user the owner of a directory or file.
    pub(super) fn chown(&self, folder: &Path) {
        if self.is_root {
            run(Command::new("chown").arg("postgres:postgres").arg(folder));
        }
    }
}

/// Runs a command to its end; panics with its standard error if it fails.
pub(super) fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?} failed ({}): {}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Returns the number in `postgres (PostgreSQL) 15.13 (Debian 15.13-0+deb12u1)`.
fn parse_version(text: &str) -> u32 {
    let version = text.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    version.and_then(|version| version.split('.').next()?.parse().ok()).unwrap_or(0)
}

fn newest_versioned() -> Option<PathBuf> {
    let entries = std::fs::read_dir(VERSIONED).ok()?;
    let numbered = entries.filter_map(|entry| {
        let entry = entry.ok()?;
        let number: u32 = entry.file_name().to_str()?.parse().ok()?;
        Some((number, entry.path().join("bin")))
    });
    numbered.filter(|(_, folder)| is_complete(folder)).max().map(|(_, folder)| folder)
}

#[expect(clippy::disallowed_methods, reason = "the search path is in the environment")]
fn on_search_path() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).find(|folder| is_complete(folder))
}

fn is_complete(folder: &Path) -> bool {
    ["initdb", "postgres", "createdb", "dropdb", "pg_ctl"].iter().all(|name| folder.join(name).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_is_read() {
        assert_eq!(parse_version("postgres (PostgreSQL) 15.13 (Debian 15.13-0+deb12u1)\n"), 15);
        assert_eq!(parse_version("postgres (PostgreSQL) 18beta1"), 0);
        assert_eq!(parse_version(""), 0);
    }
}
