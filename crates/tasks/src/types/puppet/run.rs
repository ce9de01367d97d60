//! Executor of `puppet`.

use stoker_model::TaskReport;

use super::spec::{REPORT, SUMMARY, changed, command, failure, read_summary};
use crate::context::Context;
use crate::host::{HostFuture, Status};
use crate::outcome::{Failure, TaskOutcome};
use crate::values::Values;

pub(super) fn run<'a>(values: &'a Values, cx: Context<'a>) -> HostFuture<'a, TaskOutcome> {
    Box::pin(async move {
        // Noop output is always complete; debug output would hide the list of changes.
        let is_debug = (cx.debug || values.flag("debug")) && !cx.is_noop();
        let mut exit = cx.host.run(command(values, cx.is_noop(), is_debug)).await?;
        let mut summary = exit.collected.get(SUMMARY).map(|text| read_summary(text)).unwrap_or_default();
        let code = match exit.status {
            Status::Code(code) => Some(code),
            Status::Signal(_) => None,
        };
        let why = failure(code, &summary);
        let changed = changed(&summary, cx.is_noop());
        if let Some(report) = exit.collected.remove(REPORT) {
            summary.insert("raw_report".to_owned(), report.into());
        }
        let report = TaskReport { changed, ..TaskReport::of_summary(summary) };
        match why {
            None => Ok(report),
            Some(why) => {
                Err(Failure::failed(format!("{why} ({})", exit.describe_with(&["Error:"]))).report(report))
            }
        }
    })
}
