//! Checks of directories: existence, permissions and free space.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use nix::sys::statvfs::statvfs;
use nix::unistd::{AccessFlags, access};

use super::check_result::CheckResult;

const MIB: u64 = 1 << 20;
/// Free space below which a problem is reported: below 64 MiB the database cannot work; 1 GiB leaves time to
/// react.
const FREE_PROBLEM: u64 = 64 * MIB;
const FREE_WARNING: u64 = 1024 * MIB;

/// Checks a directory with private data.
pub(super) fn check_folder(check: &'static str, path: &Path) -> Vec<CheckResult> {
    let path_text = path.display();
    let Ok(metadata) = fs::metadata(path) else {
        let parent = path.ancestors().skip(1).find(|folder| folder.exists());
        return vec![match parent {
            Some(parent) if access(parent, AccessFlags::W_OK | AccessFlags::X_OK).is_ok() => {
                CheckResult::ok(check, format!("{path_text} does not exist and will be created"))
            }
            _ => CheckResult::problem(
                check,
                format!("{path_text} does not exist and cannot be created"),
                format!("create it for the user of the service: `install -d -m 0700 -o USER {path_text}`"),
            ),
        }];
    };
    if !metadata.is_dir() {
        return vec![CheckResult::problem(
            check,
            format!("{path_text} is not a directory"),
            "pass another path",
        )];
    }
    if access(path, AccessFlags::R_OK | AccessFlags::W_OK | AccessFlags::X_OK).is_err() {
        return vec![CheckResult::problem(
            check,
            format!("{path_text} is not writable"),
            format!("change its owner to the user of the service: `chown USER {path_text}`"),
        )];
    }
    let mode = metadata.permissions().mode() & 0o777;
    let finding = if mode & 0o077 > 0 {
        CheckResult::warning(
            check,
            format!("{path_text} is accessible by other users (mode {mode:04o})"),
            format!("run `chmod 0700 {path_text}`"),
        )
    } else {
        CheckResult::ok(check, format!("{path_text} is writable and private"))
    };
    let mut findings = vec![finding];
    findings.extend(space(check, path));
    findings
}

fn space(check: &'static str, path: &Path) -> Option<CheckResult> {
    let stat = statvfs(path).ok()?;
    let n_free = stat.blocks_available().saturating_mul(stat.fragment_size());
    let free = format!("{} MiB free in {}", n_free / MIB, path.display());
    let help = "free disk space, move the data, or reduce the retention of runs (`--keep-runs`)";
    let too_little = |minimum: u64| format!("only {free}; at least {} MiB are needed", minimum / MIB);
    Some(match n_free {
        n if n < FREE_PROBLEM => CheckResult::problem(check, too_little(FREE_PROBLEM), help),
        n if n < FREE_WARNING => CheckResult::warning(check, too_little(FREE_WARNING), help),
        _ => CheckResult::ok(check, format!("{free}, which is sufficient")),
    })
}
