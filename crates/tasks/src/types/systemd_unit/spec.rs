//! Parameters of `systemd_unit`.

use std::path::PathBuf;

use crate::outcome::Failure;
use crate::parameter::{Parameter, ParameterType};
use crate::types::files::{STATE, is_absent};
use crate::values::Values;

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::required(
        "name",
        ParameterType::Text,
        "Name of the unit with its suffix, for example `backup.timer`, or of a drop-in: `nginx.service.d/limits.conf`.",
    ),
    Parameter::optional(
        "content",
        ParameterType::Data,
        "Content of the unit file; required unless it is absent.",
    ),
    STATE,
    Parameter::timeout("60"),
    Parameter::retries("0"),
    Parameter::interval(),
];

const SUFFIXES: &[&str] =
    &["service", "socket", "target", "timer", "path", "mount", "automount", "slice", "swap"];

#[derive(Debug)]
pub(super) struct Spec {
    pub(super) unit: String,
    pub(super) path: PathBuf,
    /// `None`: the unit must not exist.
    pub(super) content: Option<Vec<u8>>,
}

impl Spec {
    pub(super) fn read(values: &Values) -> Result<Self, Failure> {
        let name = values.text("name");
        let unit = match name.split_once('/') {
            None => Some(name.as_str()),
            Some((folder, file)) => folder.strip_suffix(".d").filter(|_| {
                file.strip_suffix(".conf").is_some_and(|stem| !stem.is_empty() && !file.contains(['/', ' ']))
            }),
        };
        let is_unit = |name: &&str| {
            name.rsplit_once('.').is_some_and(|(stem, suffix)| {
                !stem.is_empty() && !name.contains(['/', ' ']) && SUFFIXES.contains(&suffix)
            })
        };
        let Some(unit) = unit.filter(is_unit).map(str::to_owned) else {
            let suffixes = SUFFIXES.join(", ");
            return Err(Failure::refused(format!(
                "`name` must end with the type of the unit, one of {suffixes}, or be that of a drop-in, \
                 `UNIT.d/NAME.conf`"
            )));
        };
        let content = values.opt_text("content").map(String::into_bytes).filter(|_| !is_absent(values));
        if content.is_none() && !is_absent(values) {
            return Err(Failure::refused("`content` is required, unless `state` is `absent`"));
        }
        Ok(Self { path: PathBuf::from("/etc/systemd/system").join(name), unit, content })
    }
}

pub(super) fn validate(values: &Values) -> Result<(), Failure> {
    Spec::read(values).map(drop)
}
