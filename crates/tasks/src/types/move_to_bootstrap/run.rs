//! Executor of `move_to_bootstrap`.

use crate::host::Work;
use crate::outcome::Outcome;
use crate::task_type::Context;
use crate::types::hooks::call;
use crate::values::Values;

pub(super) fn run<'a>(values: &'a Values, cx: Context<'a>) -> Work<'a, Outcome> {
    Box::pin(call(super::TYPE.name, values, cx))
}
