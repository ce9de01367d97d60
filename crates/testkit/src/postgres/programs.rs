//! Where the programs of PostgreSQL are, and as whom they run.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Debian keeps each version apart, out of the search path.
const VERSIONED: &str = "/usr/lib/postgresql";
const MISSING: &str = "tests need PostgreSQL, which is not installed: run `apt-get install postgresql`, \
                       or set STOKER_TEST_SKIP=postgres to leave them out";

pub(super) struct Programs {
    folder: PathBuf,
    is_root: bool,
}

impl Programs {
    pub(super) fn find() -> Result<Self, String> {
        let folder = newest_versioned().or_else(on_search_path).ok_or_else(|| MISSING.to_owned())?;
        let id =
            Command::new("id").arg("-u").output().map_err(|error| format!("cannot run `id`: {error}"))?;
        Ok(Self { folder, is_root: id.stdout.trim_ascii() == b"0" })
    }

    /// A program of PostgreSQL. The server refuses to run as root, so for root it runs as `postgres`.
    pub(super) fn command(&self, name: &str) -> Command {
        let program = self.folder.join(name);
        if !self.is_root {
            return Command::new(program);
        }
        let mut command = Command::new("setpriv");
        command.args(["--reuid=postgres", "--regid=postgres", "--init-groups"]).arg(program);
        command
    }

    /// Lets the server write into a folder that we made.
    pub(super) fn give(&self, folder: &Path) {
        if self.is_root {
            run(Command::new("chown").arg("postgres:postgres").arg(folder));
        }
    }
}

/// Runs to the end; a failure is shown with what the program said.
pub(super) fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?} failed ({}): {}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
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
