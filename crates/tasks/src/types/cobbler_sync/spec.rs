//! Parameters of `cobbler_sync`.

use crate::parameter::{Kind, Parameter};

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::required("provisioning_info", Kind::Map, "Data for the network boot service."),
    Parameter::timeout("300"),
    Parameter::retries("0"),
    Parameter::interval(),
];
