//! Parameters of `cobbler_sync`.

use crate::parameter::{ParameterType, Parameter};

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::required("provisioning_info", ParameterType::Map, "Data for the network boot service."),
    Parameter::timeout("300"),
    Parameter::retries("0"),
    Parameter::interval(),
];
