//! Executor of `copy_files`; the file contents are part of the parameters.

use super::spec::files_of;
use crate::host::HostFuture;
use crate::outcome::TaskOutcome;
use crate::task_type::{Context, message_summary};
use crate::types::files::write_all;
use crate::values::Values;

pub(super) fn run<'a>(values: &'a Values, cx: Context<'a>) -> HostFuture<'a, TaskOutcome> {
    Box::pin(async move {
        let n_files = write_all(files_of(values)?, cx).await?;
        Ok(message_summary(format!("{n_files} files written")))
    })
}
