//! Checks that client and server have the same version.

use stoker_api_types::version::Version;

use crate::commands::doctor::check_result::CheckResult;
use crate::remote::{Remote, typed};

const CHECK: &str = "version";
const CLIENT_VERSION: &str = env!("CARGO_PKG_VERSION");

pub(super) fn check(remote: &mut Remote<'_>) -> Vec<CheckResult> {
    let Ok(response) = remote.get("version") else { return Vec::new() };
    let version = typed::<Version>(&response).ok().map(|version| version.stoker);
    vec![match version.as_deref() {
        Some(CLIENT_VERSION) => {
            CheckResult::ok(CHECK, format!("client and server have version {CLIENT_VERSION}"))
        }
        Some(server_version) => CheckResult::warning(
            CHECK,
            format!("the server has version {server_version}, this client {CLIENT_VERSION}"),
            "neighbouring versions are compatible; install the same version",
        ),
        None => CheckResult::problem(CHECK, "not a Stoker server", "pass the right URL with `--server`"),
    }]
}
