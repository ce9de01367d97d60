//! PostgreSQL, which tests start as a private server.

use std::fs;
use std::path::Path;

use super::debian;
use crate::failure::{Failure, Outcome};
use crate::process::which;

/// Directory into which Debian installs the programs of each version separately, outside the search path.
const VERSIONED: &str = "/usr/lib/postgresql";
/// The first program that tests run.
const PROGRAM: &str = "initdb";

/// Installs the server programs unless they are there.
pub(crate) fn ensure() -> Outcome {
    if is_installed() {
        return Ok(());
    }
    debian::install(&debian::POSTGRESQL)?;
    if is_installed() {
        return Ok(());
    }
    Err(Failure::new(format!("`{}` is installed but has no program `{PROGRAM}`", debian::POSTGRESQL.name)))
}

fn is_installed() -> bool {
    is_under(Path::new(VERSIONED)) || which(PROGRAM).is_some()
}

/// Returns whether a directory contains a version with its programs.
fn is_under(folder: &Path) -> bool {
    let versions = fs::read_dir(folder).into_iter().flatten().flatten();
    versions.into_iter().any(|version| version.path().join("bin").join(PROGRAM).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_without_programs_is_not_an_installation() {
        assert!(!is_under(Path::new("no-such-folder")));
        assert!(!is_under(Path::new(env!("CARGO_MANIFEST_DIR"))));
    }
}
