//! Parameters of `stage`.

use crate::parameter::Parameter;

pub(super) const PARAMETERS: &[Parameter] = &[];
