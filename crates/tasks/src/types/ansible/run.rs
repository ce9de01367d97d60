//! Executor of `ansible`.

use stoker_model::{Json, TaskReport};

use super::spec::{command, failure, read_recap};
use crate::context::Context;
use crate::host::HostFuture;
use crate::outcome::{Failure, TaskOutcome};
use crate::values::Values;

pub(super) fn run<'a>(values: &'a Values, cx: Context<'a>) -> HostFuture<'a, TaskOutcome> {
    Box::pin(async move {
        let exit = cx.host.run(command(values, cx.is_noop(), cx.debug)).await?;
        let recap = read_recap(&exit.stdout_tail);
        let why = failure(exit.is_success(), &recap);
        let changed = recap.get("changed").and_then(Json::as_u64).map(|n_changed| n_changed > 0);
        let report = TaskReport { changed, ..TaskReport::of_summary(recap) };
        match why {
            None => Ok(report),
            Some(why) => {
                let description = exit.describe_with(&["fatal:", "ERROR!"]);
                Err(Failure::failed(format!("{why} ({description})")).report(report))
            }
        }
    })
}
