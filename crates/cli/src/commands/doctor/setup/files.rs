//! How many files a process may have open: each agent is one.

use nix::sys::resource::{Resource, getrlimit};

use super::Setup;
use crate::commands::doctor::finding::Finding;

const CHECK: &str = "open files";
/// What a server with a thousand agents and its database needs.
const FEW: u64 = 4096;

pub(super) fn check(_: &Setup) -> Vec<Finding> {
    let Ok((_, most)) = getrlimit(Resource::RLIMIT_NOFILE) else { return Vec::new() };
    let told = format!("a process may open {most} of them, and each connected agent is one");
    vec![if most < FEW {
        Finding::warning(CHECK, told, "raise the limit: `LimitNOFILE=65536` in the unit, or `ulimit -Hn`")
    } else {
        Finding::ok(CHECK, told)
    }]
}
