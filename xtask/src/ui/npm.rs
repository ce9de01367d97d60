//! Node, which is never installed by this tool: what a distribution has may be too old.

use std::path::Path;
use std::process::Command;

use crate::failure::{Failure, Outcome};
use crate::process::{capture, which};

/// What the tools that build the interface need.
const MAJOR: u32 = 20;
const MINOR: u32 = 19;

/// `npm` in the folder of the interface.
pub(crate) fn npm(root: &Path) -> Outcome<Command> {
    let version = capture(Command::new("node").arg("--version")).unwrap_or_default();
    if which("npm").is_none() || !is_new_enough(&version) {
        let found = if version.trim().is_empty() { "none" } else { version.trim() };
        return Err(Failure::new(format!(
            "the web interface is built with Node {MAJOR}.{MINOR} or newer and npm; here is {found}. Install it, or \
             leave the interface out: the server works without"
        )));
    }
    let mut command = Command::new("npm");
    command.current_dir(root.join("ui"));
    Ok(command)
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
    fn old_versions_are_refused() {
        for (version, is_good) in [
            ("v20.19.0\n", true),
            ("v24.1.0", true),
            ("v20.18.9", false),
            ("v18.20.4", false),
            ("", false),
            ("x", false),
        ] {
            assert_eq!(is_new_enough(version), is_good, "{version}");
        }
    }
}
