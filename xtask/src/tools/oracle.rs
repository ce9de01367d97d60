//! The reference implementation of YAQL, for differential tests and benchmarks.

use std::path::{Path, PathBuf};

use super::python::Environment;
use crate::failure::Outcome;

/// Variable that passes the interpreter that can `import yaql` to tests.
pub(crate) const VARIABLE: &str = "STOKER_YAQL_ORACLE_PYTHON";

pub(super) const ENVIRONMENT: Environment = Environment {
    name: "yaql-oracle",
    // PyYAML is for the oracle of the planner, `crates/planner/tests/fidelity/oracle.py`.
    packages: &["yaql==3.2.0", "python-dateutil==2.9.0.post0", "PyYAML==6.0.3"],
    // Python YAQL uses `collections.abc` without importing it.
    probe: "import collections.abc, yaml, yaql",
};

/// Returns the path of the interpreter; creates its virtual environment if it is missing.
pub(crate) fn python(target_dir: &Path) -> Outcome<PathBuf> {
    ENVIRONMENT.python(target_dir)
}
