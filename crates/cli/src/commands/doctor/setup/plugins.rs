//! Checks the directory of plugin packages. Its mode is not checked: nodes read it through the server.

use super::Setup;
use crate::commands::doctor::check_result::{CheckResult, Level};
use crate::commands::doctor::folder;

pub(super) fn check(setup: &Setup) -> Vec<CheckResult> {
    let findings = folder::check_folder("plugins", &setup.plugins_root);
    // Inside the data directory, permissions and free space were checked already.
    findings.into_iter().filter(|finding| finding.level == Level::Problem).collect()
}
