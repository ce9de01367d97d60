//! ansible-core: what other people would run the same work with.

use std::path::{Path, PathBuf};

use super::python::Environment;
use crate::failure::Outcome;

pub(super) const ENVIRONMENT: Environment =
    Environment { name: "ansible", packages: &["ansible-core==2.19.4"], probe: "import ansible" };

/// The program that runs playbooks; builds its environment the first time.
pub(crate) fn playbook(target_dir: &Path) -> Outcome<PathBuf> {
    Ok(ENVIRONMENT.python(target_dir)?.with_file_name("ansible-playbook"))
}
