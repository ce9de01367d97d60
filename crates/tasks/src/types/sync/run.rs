//! Executor of `sync`.

use stoker_model::TaskReport;

use super::spec::command;
use crate::context::Context;
use crate::host::HostFuture;
use crate::outcome::{Failure, TaskOutcome};
use crate::values::Values;

pub(super) fn run<'a>(values: &'a Values, cx: Context<'a>) -> HostFuture<'a, TaskOutcome> {
    Box::pin(async move {
        let exit = cx.host.run(command(values, cx.is_noop())).await?;
        if exit.is_success() {
            return Ok(TaskReport::default());
        }
        Err(Failure::failed(exit.describe()))
    })
}
