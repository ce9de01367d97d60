//! Parameters of `master_shell`: those of `shell`.

pub(super) use crate::types::shell::spec::{PARAMETERS, Spec};
