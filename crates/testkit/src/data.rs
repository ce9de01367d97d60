//! Graphs and nodes of real deployments, in `../shared/data` next to the repository.

use std::path::PathBuf;

/// Returns the path of a file in `../shared/data`. If the file is missing, records the current test as
/// skipped.
pub fn real_data(name: &str) -> Option<PathBuf> {
    stoker_testenv::shared_data(name)
}
