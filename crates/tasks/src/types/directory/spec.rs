//! Parameters of `directory`.

use std::path::PathBuf;

use crate::host::FileOwner;
use crate::outcome::Failure;
use crate::parameter::{Parameter, ParameterType};
use crate::types::files::{GROUP, MODE, OWNER, STATE, absolute, is_absent};
use crate::values::Values;

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::required("path", ParameterType::Path, "Absolute path of the directory.").aliases(&["dest"]),
    MODE,
    OWNER,
    GROUP,
    STATE,
    Parameter::timeout("60"),
    Parameter::retries("0"),
    Parameter::interval(),
];

/// Permissions of a new directory for which none are set.
pub(super) const PERMISSIONS_DEFAULT: u32 = 0o755;

#[derive(Debug)]
pub(super) struct Spec {
    pub(super) path: PathBuf,
    pub(super) is_absent: bool,
    pub(super) permissions: Option<u32>,
    pub(super) owner: FileOwner,
}

impl Spec {
    pub(super) fn read(values: &Values) -> Result<Self, Failure> {
        Ok(Self {
            path: absolute(values.text("path"))?,
            is_absent: is_absent(values),
            permissions: values.has("mode").then(|| values.permissions("mode")),
            owner: FileOwner { user: values.opt_text("owner"), group: values.opt_text("group") },
        })
    }
}

pub(super) fn validate(values: &Values) -> Result<(), Failure> {
    Spec::read(values).map(drop)
}
