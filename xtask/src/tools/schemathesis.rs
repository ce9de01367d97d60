//! Schemathesis: generates requests from an OpenAPI document and validates the responses.

use std::path::{Path, PathBuf};

use super::python::Environment;
use crate::failure::Outcome;

pub(super) const ENVIRONMENT: Environment = Environment {
    name: "schemathesis",
    // The other packages determine the generated requests and the validation.
    packages: &["schemathesis==4.32.5", "hypothesis==6.170.15", "jsonschema-rs==0.60.3"],
    probe: "import schemathesis",
};

/// Returns the path of the program; creates its virtual environment if it is missing.
pub(crate) fn program(target_dir: &Path) -> Outcome<PathBuf> {
    Ok(ENVIRONMENT.python(target_dir)?.with_file_name("schemathesis"))
}
