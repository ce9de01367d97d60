//! Graphs, nodes and expected plans of real deployments. They are stored next to the repository and are never
//! copied into it.

use std::path::{Path, PathBuf};

use crate::report::miss;

/// Returns the path of a file in `../shared/data`. If the file is missing, records the current test as
/// skipped.
pub fn shared_data(name: &str) -> Option<PathBuf> {
    let path = root().join(name);
    if path.is_file() {
        return Some(path);
    }
    report(name);
    None
}

/// Returns the path of a directory in `../shared/data`, `.` for the root. If the directory is missing,
/// records the current test as skipped.
pub fn shared_folder(name: &str) -> Option<PathBuf> {
    let path = if name == "." { root() } else { root().join(name) };
    if path.is_dir() {
        return Some(path);
    }
    report(name);
    None
}

/// Records the current test as skipped. The reason is the same for every file while the whole directory is
/// missing, so that the summary groups the tests.
fn report(name: &str) {
    if root().is_dir() {
        miss("data", &format!("data: no `{name}` in ../shared/data"));
    } else {
        miss("data", "data: no directory ../shared/data");
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data")
}
