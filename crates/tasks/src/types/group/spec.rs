//! Parameters of `group`. The planner reads `strategy`, as for every type.

use crate::parameter::Parameter;

pub(super) const PARAMETERS: &[Parameter] = &[];
