//! The data folder.

use super::Setup;
use crate::commands::doctor::finding::Finding;
use crate::commands::doctor::place;

pub(super) fn check(setup: &Setup) -> Vec<Finding> {
    place::folder("data folder", &setup.data_folder)
}
