//! Parameters of `reboot`.

use crate::parameter::Parameter;

pub(super) const PARAMETERS: &[Parameter] =
    &[Parameter::timeout("900"), Parameter::retries("0"), Parameter::interval()];
