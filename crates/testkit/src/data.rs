//! Real graphs and nodes, which live beside the repository and are never copied into it.

use std::path::{Path, PathBuf};

/// The file of that name under `shared/data` beside the repository; `None` where there is no such folder.
pub fn real_data(name: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2)?;
    let path = root.parent()?.join("shared/data").join(name);
    path.is_file().then_some(path)
}
