//! python-troveclient, the public client of the module API.

use std::path::{Path, PathBuf};

use super::python::Environment;
use crate::failure::Outcome;

pub(super) const ENVIRONMENT: Environment = Environment {
    name: "troveclient",
    packages: &["python-troveclient==8.11.0"],
    probe: "import troveclient.client, keystoneauth1.identity, requests",
};

/// Returns the path of the interpreter, next to which the program is installed; creates the virtual
/// environment if it is missing.
pub(crate) fn python(target_dir: &Path) -> Outcome<PathBuf> {
    ENVIRONMENT.python(target_dir)
}
