//! Parameters of `move_to_bootstrap`.

use crate::parameter::{ParameterType, Parameter};

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::required("provisioning_info", ParameterType::Map, "Data for the network boot service."),
    Parameter::optional("slave_name", ParameterType::Text, "Name of the node in the network boot service."),
    Parameter::timeout("300"),
    Parameter::retries("0"),
    Parameter::interval(),
];
