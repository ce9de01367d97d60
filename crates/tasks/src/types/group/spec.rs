//! Parameters of `group`. Its `strategy` is read by the planner, as that of every task.

use crate::parameter::Parameter;

pub(super) const PARAMETERS: &[Parameter] = &[];
