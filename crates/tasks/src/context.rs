//! What a task type knows of its attempt.

use stoker_engine::session::Mode;

use crate::host::Host;

/// Execution context of an attempt.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub host: &'a dyn Host,
    /// UID of the node that the task is for.
    pub node: &'a str,
    pub mode: Mode,
    pub debug: bool,
}

impl Context<'_> {
    pub(crate) fn is_noop(&self) -> bool {
        self.mode == Mode::Noop
    }
}
