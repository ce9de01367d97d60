//! Runs npm with the Node of the machine, or with a Node from a Python package if that is too old.

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use crate::failure::{Context as _, Outcome};
use crate::process::{capture, which};
use crate::tools::node;
use crate::workspace::Metadata;

/// Minimum version of Node that the build tools need.
const MAJOR: u32 = 20;
const MINOR: u32 = 19;

/// Returns `npm` in the directory of the web UI.
pub(crate) fn npm(root: &Path) -> Outcome<Command> {
    let version = capture(Command::new("node").arg("--version")).unwrap_or_default();
    let mut command = if which("npm").is_some() && is_new_enough(&version) {
        Command::new("npm")
    } else {
        let folder = node::programs(&Metadata::load(root)?.target_dir)?;
        let mut command = Command::new(folder.join("npm"));
        command.env("PATH", path_with(&folder)?);
        command
    };
    command.current_dir(root.join("ui"));
    Ok(command)
}

/// Returns the search path with a directory in front: npm starts `node` from there.
fn path_with(folder: &Path) -> Outcome<OsString> {
    let others = env::var_os("PATH").unwrap_or_default();
    let folders = [folder.to_owned()].into_iter().chain(env::split_paths(&others));
    env::join_paths(folders).context("cannot extend the search path")
}

fn is_new_enough(version: &str) -> bool {
    let mut numbers = version.trim().trim_start_matches('v').split('.').map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= (MAJOR, MINOR),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_versions_are_rejected() {
        for (version, is_accepted) in [
            ("v20.19.0\n", true),
            ("v24.1.0", true),
            ("v20.18.9", false),
            ("v18.20.4", false),
            ("", false),
            ("x", false),
        ] {
            assert_eq!(is_new_enough(version), is_accepted, "{version}");
        }
    }
}
