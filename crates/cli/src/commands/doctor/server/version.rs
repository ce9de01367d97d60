//! Checks that client and server have the same version.

use crate::commands::doctor::check_result::CheckResult;
use crate::remote::Remote;

const CHECK: &str = "version";
const CLIENT_VERSION: &str = env!("CARGO_PKG_VERSION");

pub(super) fn check(remote: &mut Remote<'_>) -> Vec<CheckResult> {
    let Ok(response) = remote.get("version") else { return Vec::new() };
    vec![match response["stoker"].as_str() {
        Some(CLIENT_VERSION) => {
            CheckResult::ok(CHECK, format!("client and server have version {CLIENT_VERSION}"))
        }
        Some(server_version) => CheckResult::warning(
            CHECK,
            format!("the server has version {server_version}, this client {CLIENT_VERSION}"),
            "neighboring versions are compatible; install the same version",
        ),
        None => CheckResult::problem(CHECK, "not a Stoker server", "pass the right URL with `--server`"),
    }]
}
