//! Whether program and server are of one version.

use crate::commands::doctor::finding::Finding;
use crate::remote::Remote;

const CHECK: &str = "version";
const OURS: &str = env!("CARGO_PKG_VERSION");

pub(super) fn check(remote: &mut Remote<'_>) -> Vec<Finding> {
    let Ok(shown) = remote.get("version") else { return Vec::new() };
    vec![match shown["stoker"].as_str() {
        Some(OURS) => Finding::ok(CHECK, format!("server and program are {OURS}")),
        Some(theirs) => Finding::warning(
            CHECK,
            format!("the server is {theirs}, this program {OURS}"),
            "one step apart works; install the same version here",
        ),
        None => Finding::problem(CHECK, "this is no Stoker server", "name the right one with `--server`"),
    }]
}
