//! Parameters of `noop`.

use crate::parameter::Parameter;

pub(super) const PARAMETERS: &[Parameter] = &[];
