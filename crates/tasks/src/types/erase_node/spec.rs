//! Parameters of `erase_node`.

use crate::parameter::Parameter;

pub(super) const PARAMETERS: &[Parameter] =
    &[Parameter::timeout("300"), Parameter::retries("0"), Parameter::interval()];
