//! The folder of packages of plugins; tasks on nodes read it through the server, so its mode is nobody's business.

use super::Setup;
use crate::commands::doctor::finding::{Finding, Level};
use crate::commands::doctor::place;

pub(super) fn check(setup: &Setup) -> Vec<Finding> {
    let findings = place::folder("plugins", &setup.plugins_root);
    // Under the data folder it is protected already, and its free space was told.
    findings.into_iter().filter(|finding| finding.level == Level::Problem).collect()
}
