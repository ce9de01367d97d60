//! The public client of the module API.

use std::path::{Path, PathBuf};

use super::python::Environment;
use crate::failure::Outcome;

pub(super) const ENVIRONMENT: Environment = Environment {
    name: "troveclient",
    packages: &["python-troveclient==8.11.0"],
    probe: "import troveclient.client, keystoneauth1.identity, requests",
};

/// Its interpreter, beside which the program is; builds the environment the first time.
pub(crate) fn python(target_dir: &Path) -> Outcome<PathBuf> {
    ENVIRONMENT.python(target_dir)
}
