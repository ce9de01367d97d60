//! Parameters of `skipped`.

use crate::parameter::Parameter;

pub(super) const PARAMETERS: &[Parameter] = &[];
