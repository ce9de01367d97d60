//! Folders and files, as several checks look at them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use nix::sys::statvfs::statvfs;
use nix::unistd::{AccessFlags, access};

use super::finding::Finding;

const MIB: u64 = 1 << 20;
/// Too little to write anything sensible, and little enough to do something about it.
const FREE_PROBLEM: u64 = 64 * MIB;
const FREE_WARNING: u64 = 1024 * MIB;

/// A folder in which something is kept that is no business of others.
pub(super) fn folder(check: &'static str, path: &Path) -> Vec<Finding> {
    let shown = path.display();
    let Ok(metadata) = fs::metadata(path) else {
        let parent = path.ancestors().skip(1).find(|folder| folder.exists());
        return vec![match parent {
            Some(parent) if access(parent, AccessFlags::W_OK | AccessFlags::X_OK).is_ok() => {
                Finding::ok(check, format!("{shown} is not there yet and will be made"))
            }
            _ => Finding::problem(
                check,
                format!("{shown} is not there and cannot be made"),
                format!("make it for the user who runs this: `install -d -m 0700 -o USER {shown}`"),
            ),
        }];
    };
    if !metadata.is_dir() {
        return vec![Finding::problem(check, format!("{shown} is no folder"), "name another one")];
    }
    if access(path, AccessFlags::R_OK | AccessFlags::W_OK | AccessFlags::X_OK).is_err() {
        return vec![Finding::problem(
            check,
            format!("{shown} cannot be written by this user"),
            format!("give it to the user who runs this: `chown USER {shown}`"),
        )];
    }
    let mode = metadata.permissions().mode() & 0o777;
    let first = if mode & 0o077 > 0 {
        Finding::warning(
            check,
            format!("{shown} is open to others (mode {mode:04o})"),
            format!("`chmod 0700 {shown}`"),
        )
    } else {
        Finding::ok(check, format!("{shown} can be used, by nobody else"))
    };
    let mut findings = vec![first];
    findings.extend(space(check, path));
    findings
}

fn space(check: &'static str, path: &Path) -> Option<Finding> {
    let stat = statvfs(path).ok()?;
    let n_free = stat.blocks_available().saturating_mul(stat.fragment_size());
    let told = format!("{} MiB are free at {}", n_free / MIB, path.display());
    let help = "free some, or put the data elsewhere; history grows with every run (`--keep-runs`)";
    Some(match n_free {
        n if n < FREE_PROBLEM => Finding::problem(check, told, help),
        n if n < FREE_WARNING => Finding::warning(check, told, help),
        _ => Finding::ok(check, told),
    })
}
