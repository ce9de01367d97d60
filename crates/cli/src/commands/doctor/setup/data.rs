//! Checks the data directory.

use super::Setup;
use crate::commands::doctor::check_result::CheckResult;
use crate::commands::doctor::folder;

pub(super) fn check(setup: &Setup) -> Vec<CheckResult> {
    folder::check_folder("data directory", &setup.data_folder)
}
