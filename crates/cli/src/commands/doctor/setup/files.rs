//! Checks the limit of open files: each connected agent uses one.

use nix::sys::resource::{Resource, getrlimit};

use super::Setup;
use crate::commands::doctor::check_result::CheckResult;

const CHECK: &str = "open files";
/// Minimum number of open files: sufficient for a thousand agents and the database.
const LIMIT_MIN: u64 = 4096;

pub(super) fn check(_: &Setup) -> Vec<CheckResult> {
    let Ok((_, limit)) = getrlimit(Resource::RLIMIT_NOFILE) else { return Vec::new() };
    vec![if limit < LIMIT_MIN {
        CheckResult::warning(
            CHECK,
            format!("a process can open only {limit} files, and each connected agent uses one"),
            "raise the limit to at least 4096, with `LimitNOFILE=65536` in the unit or with `ulimit -Hn`",
        )
    } else {
        CheckResult::ok(CHECK, format!("a process can open {limit} files, which is sufficient"))
    }]
}
