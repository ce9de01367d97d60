//! Stamps that show whether the web UI is up to date: hashes of its sources and of the lock file.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::process::Command;

use crate::failure::{Context as _, Outcome};
use crate::process::capture;

const BUILT: &str = "ui/dist/.stamp";
const INSTALLED: &str = "ui/node_modules/.stamp";
const LOCK: &str = "ui/package-lock.json";
const INDEX: &str = "ui/dist/index.html";

/// Returns the hash of all files that the build reads.
pub(super) fn of_sources(root: &Path) -> Outcome<String> {
    let mut list = Command::new("git");
    list.current_dir(root).args(["ls-files", "--cached", "--others", "--exclude-standard", "--"]);
    let listed = capture(list.args(["ui", "openapi/stoker.json"]))?;
    let mut paths: Vec<&str> = listed.lines().filter(|path| !path.starts_with("ui/e2e/")).collect();
    paths.sort_unstable();
    let mut hasher = DefaultHasher::new();
    for path in paths {
        // Deleted files are listed until the deletion is committed.
        let Ok(bytes) = fs::read(root.join(path)) else { continue };
        (path, bytes).hash(&mut hasher);
    }
    Ok(format!("{:016x}", hasher.finish()))
}

/// Returns the hash of the sources of the existing build; `None` without a build.
pub(super) fn of_build(root: &Path) -> Option<String> {
    root.join(INDEX).is_file().then(|| fs::read_to_string(root.join(BUILT)).ok()).flatten()
}

pub(super) fn write_build(root: &Path, stamp: &str) -> Outcome {
    write(&root.join(BUILT), stamp)
}

pub(super) fn of_lock(root: &Path) -> Outcome<String> {
    let mut hasher = DefaultHasher::new();
    fs::read(root.join(LOCK)).context(format!("cannot read `{LOCK}`"))?.hash(&mut hasher);
    Ok(format!("{:016x}", hasher.finish()))
}

pub(super) fn of_packages(root: &Path) -> Option<String> {
    fs::read_to_string(root.join(INSTALLED)).ok()
}

pub(super) fn write_packages(root: &Path, stamp: &str) -> Outcome {
    write(&root.join(INSTALLED), stamp)
}

fn write(path: &Path, text: &str) -> Outcome {
    fs::write(path, text).context(format!("cannot write `{}`", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_files_have_no_stamp() {
        assert_eq!(of_build(Path::new("no-such-folder")), None);
        assert_eq!(of_packages(Path::new("no-such-folder")), None);
        assert!(of_lock(Path::new("no-such-folder")).is_err());
    }
}
