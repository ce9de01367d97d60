//! Parameters of `move_to_bootstrap`.

use crate::parameter::{Kind, Parameter};

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::required("provisioning_info", Kind::Map, "What the service has to know."),
    Parameter::optional("slave_name", Kind::Text, "The name of the node in that service."),
    Parameter::timeout("300"),
    Parameter::retries("0"),
    Parameter::interval(),
];
