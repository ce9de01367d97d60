//! Checks the data directory.

use super::Setup;
use crate::commands::doctor::finding::Finding;
use crate::commands::doctor::folder;

pub(super) fn check(setup: &Setup) -> Vec<Finding> {
    folder::check_folder("data directory", &setup.data_folder)
}
