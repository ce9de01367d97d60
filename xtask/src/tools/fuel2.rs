//! python-fuelclient, the public command-line client of Fuel, with which the server is compatible.

use std::path::{Path, PathBuf};

use super::python::Environment;
use crate::failure::Outcome;

/// Variable that passes the interpreter that can import the client to tests.
pub(crate) const VARIABLE: &str = "STOKER_FUEL2_PYTHON";
/// The module of the test scenarios with unmodified clients.
pub(crate) const SCENARIOS: &str = "real_client::";

pub(super) const ENVIRONMENT: Environment = Environment {
    name: "fuel2",
    // `fuel2` needs an API that newer PyYAML removed and a module that newer setuptools removed.
    packages: &[
        "python-fuelclient==11.0.0",
        "PyYAML==5.3.1",
        "setuptools==80.9.0",
        "cliff==4.17.0",
        "python-keystoneclient==6.0.0",
        "requests==2.34.2",
    ],
    probe: "import fuelclient.main",
};

/// Returns the path of the interpreter; creates its virtual environment if it is missing.
pub(crate) fn python(target_dir: &Path) -> Outcome<PathBuf> {
    ENVIRONMENT.python(target_dir)
}
