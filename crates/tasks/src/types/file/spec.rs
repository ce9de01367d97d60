//! Parameters of `file`.

use std::path::PathBuf;

use crate::host::FileOwner;
use crate::outcome::Failure;
use crate::parameter::{Parameter, ParameterType};
use crate::types::files::{
    BACKUP, DiffDetail, GROUP, MODE, OWNER, STATE, VALIDATE, absolute, is_absent, validate_command,
};
use crate::values::Values;

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::required("path", ParameterType::Path, "Absolute path of the file.").aliases(&["dest"]),
    Parameter::optional("content", ParameterType::Data, "Content of the file."),
    MODE,
    OWNER,
    GROUP,
    STATE,
    VALIDATE,
    BACKUP,
    Parameter::default(
        "show_diff",
        ParameterType::Boolean,
        "true",
        "Show changes of the content line by line. With `false` only sizes and digests are shown.",
    ),
    Parameter::timeout("60"),
    Parameter::retries("0"),
    Parameter::interval(),
];

/// Permissions of a new file for which none are set.
pub(super) const PERMISSIONS_DEFAULT: u32 = 0o644;

#[derive(Debug)]
pub(super) struct Spec {
    pub(super) path: PathBuf,
    pub(super) is_absent: bool,
    pub(super) content: Option<Vec<u8>>,
    pub(super) permissions: Option<u32>,
    pub(super) owner: FileOwner,
    pub(super) validate: Option<String>,
    pub(super) keeps_backup: bool,
    pub(super) detail: DiffDetail,
}

impl Spec {
    pub(super) fn read(values: &Values) -> Result<Self, Failure> {
        Ok(Self {
            path: absolute(values.text("path"))?,
            is_absent: is_absent(values),
            content: values.opt_text("content").map(String::into_bytes),
            permissions: values.has("mode").then(|| values.permissions("mode")),
            owner: FileOwner { user: values.opt_text("owner"), group: values.opt_text("group") },
            validate: validate_command(values)?,
            keeps_backup: values.flag("backup"),
            detail: if values.flag("show_diff") { DiffDetail::Content } else { DiffDetail::Digest },
        })
    }
}

pub(super) fn validate(values: &Values) -> Result<(), Failure> {
    Spec::read(values).map(drop)
}
