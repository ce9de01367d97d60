//! PostgreSQL, of which the tests of the store start a private server.

use std::fs;
use std::path::Path;

use super::debian;
use crate::failure::{Failure, Outcome};
use crate::process::which;

/// Debian keeps the programs of each version apart, out of the search path.
const VERSIONED: &str = "/usr/lib/postgresql";
/// What the tests start.
const PROGRAM: &str = "initdb";

/// Makes sure that the server programs are there.
pub(crate) fn ensure() -> Outcome {
    if is_installed() {
        return Ok(());
    }
    debian::install(&debian::POSTGRESQL)?;
    if is_installed() {
        return Ok(());
    }
    Err(Failure::new(format!("`{}` is installed and has no `{PROGRAM}`", debian::POSTGRESQL.name)))
}

fn is_installed() -> bool {
    is_under(Path::new(VERSIONED)) || which(PROGRAM).is_some()
}

/// Whether a folder has a version with its programs.
fn is_under(folder: &Path) -> bool {
    let versions = fs::read_dir(folder).into_iter().flatten().flatten();
    versions.into_iter().any(|version| version.path().join("bin").join(PROGRAM).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_programs_does_not_count() {
        assert!(!is_under(Path::new("no-such-folder")));
        assert!(!is_under(Path::new(env!("CARGO_MANIFEST_DIR"))));
    }
}
