//! cargo-deny, built once into the user's cache directory.
//!
//! No distribution packages a version that reads the current lock file format, so it is compiled, with light
//! optimization and without link-time optimization: about a minute and a half on two cores.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Outcome;
use crate::process::{capture, cargo, run, which};
use crate::workspace;

const VERSION: &str = "0.20.2";

/// Returns the path of the program: on the search path, in the cache, or a new build.
pub(crate) fn program(target_dir: &Path) -> Outcome<PathBuf> {
    let root = workspace::cache_dir(target_dir).join("tools").join(format!("cargo-deny-{VERSION}"));
    let cached = root.join("bin").join("cargo-deny");
    if let Some(program) =
        which("cargo-deny").into_iter().chain([cached.clone()]).find(|path| has_version(path))
    {
        return Ok(program);
    }
    run(cargo()
        .args(["install", "cargo-deny", "--locked", "--quiet", "--no-default-features", "--version", VERSION])
        .arg("--root")
        .arg(&root)
        .env("CARGO_TARGET_DIR", root.join("build"))
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1"))?;
    // Intermediate files take twenty times the space of the program.
    drop(std::fs::remove_dir_all(root.join("build")));
    Ok(cached)
}

fn has_version(path: &Path) -> bool {
    capture(Command::new(path).arg("--version")).is_ok_and(|text| parse_version(&text) == Some(VERSION))
}

fn parse_version(text: &str) -> Option<&str> {
    text.trim().strip_prefix("cargo-deny ")?.split_whitespace().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_version_is_rejected() {
        assert_eq!(parse_version("cargo-deny 0.20.2\n"), Some("0.20.2"));
        assert_eq!(parse_version("cargo 1.0"), None);
        assert!(!has_version(Path::new("no-such-program")));
    }
}
