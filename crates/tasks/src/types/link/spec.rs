//! Parameters of `link`.

use std::path::PathBuf;

use crate::outcome::Failure;
use crate::parameter::{Parameter, ParameterType};
use crate::types::files::{STATE, absolute, is_absent};
use crate::values::Values;

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::required("path", ParameterType::Path, "Absolute path of the link.").aliases(&["dest"]),
    Parameter::optional(
        "target",
        ParameterType::Text,
        "Path that the link refers to; required unless it is absent.",
    )
    .aliases(&["src"]),
    STATE,
    Parameter::timeout("60"),
    Parameter::retries("0"),
    Parameter::interval(),
];

#[derive(Debug)]
pub(super) struct Spec {
    pub(super) path: PathBuf,
    /// `None`: the link must not exist.
    pub(super) target: Option<PathBuf>,
}

impl Spec {
    pub(super) fn read(values: &Values) -> Result<Self, Failure> {
        let target = values.opt_text("target").map(PathBuf::from);
        if target.is_none() && !is_absent(values) {
            return Err(Failure::refused("`target` is required, unless `state` is `absent`"));
        }
        Ok(Self { path: absolute(values.text("path"))?, target: target.filter(|_| !is_absent(values)) })
    }
}

pub(super) fn validate(values: &Values) -> Result<(), Failure> {
    Spec::read(values).map(drop)
}
