//! ansible-core: run by the task type `ansible` and compared with in benchmarks.

use std::path::{Path, PathBuf};

use super::python::Environment;
use crate::failure::Outcome;

pub(super) const ENVIRONMENT: Environment =
    Environment { name: "ansible", packages: &["ansible-core==2.19.4"], probe: "import ansible" };

/// Returns the path of `ansible-playbook`; creates its virtual environment if it is missing.
pub(crate) fn playbook(target_dir: &Path) -> Outcome<PathBuf> {
    Ok(ENVIRONMENT.python(target_dir)?.with_file_name("ansible-playbook"))
}
