//! The reference implementation of YAQL. Tests that compare answers find its interpreter in [`VARIABLE`].

use std::path::{Path, PathBuf};

use super::python::Environment;
use crate::failure::Outcome;

/// Where tests look for the interpreter that can `import yaql`.
pub(crate) const VARIABLE: &str = "STOKER_YAQL_ORACLE_PYTHON";

pub(super) const ENVIRONMENT: Environment = Environment {
    name: "yaql-oracle",
    packages: &["yaql==3.2.0", "python-dateutil==2.9.0.post0"],
    // The reference uses `collections.abc` without importing it.
    probe: "import collections.abc, yaql",
};

/// The interpreter of the reference; builds its environment the first time.
pub(crate) fn python(target_dir: &Path) -> Outcome<PathBuf> {
    ENVIRONMENT.python(target_dir)
}
