//! Parameters of `user_group`.

use crate::outcome::Failure;
use crate::parameter::{Parameter, ParameterType};
use crate::types::accounts::is_account_name;
use crate::types::files::{STATE, is_absent};
use crate::values::Values;

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::required("name", ParameterType::Text, "Name of the group."),
    Parameter::optional(
        "gid",
        ParameterType::Number,
        "Number of the group; chosen by the node if it is not set.",
    ),
    Parameter::default(
        "system",
        ParameterType::Boolean,
        "false",
        "Choose the number of a new group among those of the system.",
    ),
    STATE,
    Parameter::timeout("60"),
    Parameter::retries("0"),
    Parameter::interval(),
];

#[derive(Debug)]
pub(super) struct Spec {
    pub(super) name: String,
    pub(super) gid: Option<String>,
    pub(super) is_system: bool,
    pub(super) is_absent: bool,
}

impl Spec {
    pub(super) fn read(values: &Values) -> Result<Self, Failure> {
        let name = values.text("name");
        if !is_account_name(&name) {
            return Err(Failure::refused(format!("`name` is not a valid name of a group: `{name}`")));
        }
        let gid = values.has("gid").then(|| values.count("gid").to_string());
        Ok(Self { name, gid, is_system: values.flag("system"), is_absent: is_absent(values) })
    }
}

pub(super) fn validate(values: &Values) -> Result<(), Failure> {
    Spec::read(values).map(drop)
}
