//! Checks the limit of open files: each connected agent uses one.

use nix::sys::resource::{Resource, getrlimit};

use super::Setup;
use crate::commands::doctor::check_result::CheckResult;

const CHECK: &str = "open files";
/// Enough for a thousand agents and the database.
const LIMIT_MIN: u64 = 4096;

pub(super) fn check(_: &Setup) -> Vec<CheckResult> {
    let Ok((_, limit)) = getrlimit(Resource::RLIMIT_NOFILE) else { return Vec::new() };
    let message = format!("a process can open {limit} files; each connected agent uses one");
    vec![if limit < LIMIT_MIN {
        CheckResult::warning(
            CHECK,
            message,
            "raise the limit with `LimitNOFILE=65536` in the unit, or with `ulimit -Hn`",
        )
    } else {
        CheckResult::ok(CHECK, message)
    }]
}
