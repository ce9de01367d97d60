//! Executor of `move_to_bootstrap`.

use crate::context::Context;
use crate::host::HostFuture;
use crate::outcome::TaskOutcome;
use crate::types::hooks::call;
use crate::values::Values;

pub(super) fn run<'a>(values: &'a Values, cx: Context<'a>) -> HostFuture<'a, TaskOutcome> {
    Box::pin(call(super::TYPE.name, values, cx))
}
