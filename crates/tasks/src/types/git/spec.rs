//! Parameters of `git`.

use std::path::PathBuf;

use crate::outcome::Failure;
use crate::parameter::{Parameter, ParameterType};
use crate::types::files::absolute;
use crate::values::Values;

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::required(
        "repo",
        ParameterType::Text,
        "Address of the repository: a URL, `user@host:path` or a path.",
    ),
    Parameter::required("dest", ParameterType::Path, "Absolute path of the working copy.").aliases(&["path"]),
    Parameter::default("version", ParameterType::Text, "HEAD", "Branch, tag or full commit hash."),
    Parameter::default(
        "update",
        ParameterType::Boolean,
        "true",
        "Follow the branch or tag. With `false` an existing working copy is left at its commit.",
    ),
    Parameter::default("force", ParameterType::Boolean, "false", "Discard local changes of tracked files."),
    Parameter::timeout("600"),
    Parameter::retries("2"),
    Parameter::interval(),
];

#[derive(Debug)]
pub(super) struct Spec {
    pub(super) repo: String,
    pub(super) dest: PathBuf,
    pub(super) version: String,
    pub(super) updates: bool,
    pub(super) forces: bool,
}

impl Spec {
    pub(super) fn read(values: &Values) -> Result<Self, Failure> {
        let (repo, version) = (values.text("repo"), values.text("version"));
        for (name, text) in [("repo", &repo), ("version", &version)] {
            if text.starts_with('-') || text.contains(char::is_whitespace) {
                return Err(Failure::refused(format!("`{name}` is not valid: `{text}`")));
            }
        }
        // A remote helper runs an arbitrary program.
        if repo.contains("::") {
            return Err(Failure::refused(format!("`repo` must not name a remote helper: `{repo}`")));
        }
        let dest = absolute(values.text("dest"))?;
        Ok(Self { repo, dest, version, updates: values.flag("update"), forces: values.flag("force") })
    }

    /// The version, if it is a full commit hash.
    pub(super) fn commit(&self) -> Option<&str> {
        let is_hash = matches!(self.version.len(), 40 | 64)
            && self.version.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase());
        is_hash.then_some(self.version.as_str())
    }
}

pub(super) fn validate(values: &Values) -> Result<(), Failure> {
    Spec::read(values).map(drop)
}
