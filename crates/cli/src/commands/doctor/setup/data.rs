//! Checks the data folder.

use super::Setup;
use crate::commands::doctor::finding::Finding;
use crate::commands::doctor::folder;

pub(super) fn check(setup: &Setup) -> Vec<Finding> {
    folder::check_folder("data folder", &setup.data_folder)
}
