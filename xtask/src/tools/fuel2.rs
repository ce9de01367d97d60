//! The public command line client of Fuel, whose users must find everything where it was.

use std::path::{Path, PathBuf};

use super::python::Environment;
use crate::failure::Outcome;

/// Where the scenarios look for the interpreter that can import the client.
pub(crate) const VARIABLE: &str = "STOKER_FUEL2_PYTHON";
/// The module that all scenarios of real clients are in, whichever client it is.
pub(crate) const SCENARIOS: &str = "real_client::";

pub(super) const ENVIRONMENT: Environment = Environment {
    name: "fuel2",
    // It reads YAML in a way that newer readers refuse, and imports a module that newer setuptools lack.
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

/// The interpreter of the client; builds its environment the first time.
pub(crate) fn python(target_dir: &Path) -> Outcome<PathBuf> {
    ENVIRONMENT.python(target_dir)
}
