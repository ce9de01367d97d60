//! Executor of `ansible`.

use super::spec::{command, failure, read_recap};
use crate::host::HostFuture;
use crate::outcome::{Failure, TaskOutcome};
use crate::task_type::Context;
use crate::values::Values;

pub(super) fn run<'a>(values: &'a Values, cx: Context<'a>) -> HostFuture<'a, TaskOutcome> {
    Box::pin(async move {
        let exit = cx.host.run(command(values, cx.is_noop(), cx.debug)).await?;
        let recap = read_recap(&exit.stdout_tail);
        match failure(exit.is_success(), &recap) {
            None => Ok(recap),
            Some(why) => {
                let description = exit.describe_with(&["fatal:", "ERROR!"]);
                Err(Failure::failed(format!("{why} ({description})")).summary(recap))
            }
        }
    })
}
