//! Schemathesis: requests made up from an OpenAPI document, answers compared with it.

use std::path::{Path, PathBuf};

use super::python::Environment;
use crate::failure::Outcome;

pub(super) const ENVIRONMENT: Environment = Environment {
    name: "schemathesis",
    // Those beside it decide which requests are made up, and what an answer may be.
    packages: &["schemathesis==4.32.5", "hypothesis==6.170.15", "jsonschema-rs==0.60.3"],
    probe: "import schemathesis",
};

/// The program; builds its environment the first time.
pub(crate) fn program(target_dir: &Path) -> Outcome<PathBuf> {
    Ok(ENVIRONMENT.python(target_dir)?.with_file_name("schemathesis"))
}
