//! Parameters of `service`.

use crate::outcome::Failure;
use crate::parameter::{Parameter, ParameterType};
use crate::values::Values;

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::required("name", ParameterType::Text, "Name of the unit; `.service` may be omitted."),
    Parameter::optional(
        "state",
        ParameterType::Choice(&["running", "stopped", "restarted", "reloaded"]),
        "Desired state, or the action to do.",
    ),
    Parameter::optional("enabled", ParameterType::Boolean, "Whether the service starts at boot."),
    Parameter::optional("masked", ParameterType::Boolean, "Whether the service can be started at all."),
    Parameter::timeout("120"),
    Parameter::retries("0"),
    Parameter::interval(),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DesiredState {
    Running,
    Stopped,
    Restarted,
    Reloaded,
}

#[derive(Debug)]
pub(super) struct Spec {
    pub(super) unit: String,
    pub(super) state: Option<DesiredState>,
    pub(super) enabled: Option<bool>,
    pub(super) masked: Option<bool>,
}

impl Spec {
    pub(super) fn read(values: &Values) -> Result<Self, Failure> {
        let name = values.text("name");
        if name.starts_with('-') || name.contains(char::is_whitespace) || name.contains('/') {
            return Err(Failure::refused(format!("`name` is not the name of a unit: `{name}`")));
        }
        let state = match values.text("state").as_str() {
            "running" => Some(DesiredState::Running),
            "stopped" => Some(DesiredState::Stopped),
            "restarted" => Some(DesiredState::Restarted),
            "reloaded" => Some(DesiredState::Reloaded),
            _ => None,
        };
        let flag = |name: &str| values.has(name).then(|| values.flag(name));
        let (enabled, masked) = (flag("enabled"), flag("masked"));
        if masked == Some(true)
            && (enabled == Some(true) || state.is_some_and(|it| it != DesiredState::Stopped))
        {
            return Err(Failure::refused("a masked service can be neither enabled nor running"));
        }
        if state.is_none() && enabled.is_none() && masked.is_none() {
            return Err(Failure::refused("one of `state`, `enabled` and `masked` is required"));
        }
        let unit = if name.contains('.') { name } else { format!("{name}.service") };
        Ok(Self { unit, state, enabled, masked })
    }
}

pub(super) fn validate(values: &Values) -> Result<(), Failure> {
    Spec::read(values).map(drop)
}
