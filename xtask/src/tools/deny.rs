//! cargo-deny, built once into the user's cache folder.
//!
//! Nobody carries a ready-made build that understands today's lock files, so it is compiled: with light
//! optimisation and without link-time optimisation that takes about a minute and a half on two cores.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Outcome;
use crate::process::{capture, cargo, run, which};
use crate::workspace;

const VERSION: &str = "0.20.2";

/// The program: one on the search path of the same version, the cached one, or a new build.
pub(crate) fn program(target_dir: &Path) -> Outcome<PathBuf> {
    let root = workspace::cache_dir(target_dir).join("tools").join(format!("cargo-deny-{VERSION}"));
    let cached = root.join("bin").join("cargo-deny");
    if let Some(found) = which("cargo-deny").into_iter().chain([cached.clone()]).find(|path| is_right(path)) {
        return Ok(found);
    }
    run(cargo()
        .args(["install", "cargo-deny", "--locked", "--quiet", "--no-default-features", "--version", VERSION])
        .arg("--root")
        .arg(&root)
        .env("CARGO_TARGET_DIR", root.join("build"))
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1"))?;
    // The intermediate files are twenty times the program and never needed again.
    drop(std::fs::remove_dir_all(root.join("build")));
    Ok(cached)
}

fn is_right(path: &Path) -> bool {
    capture(Command::new(path).arg("--version")).is_ok_and(|text| version_of(&text) == Some(VERSION))
}

fn version_of(text: &str) -> Option<&str> {
    text.trim().strip_prefix("cargo-deny ")?.split_whitespace().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_version_is_not_taken() {
        assert_eq!(version_of("cargo-deny 0.20.2\n"), Some("0.20.2"));
        assert_eq!(version_of("cargo 1.0"), None);
        assert!(!is_right(Path::new("no-such-program")));
    }
}
