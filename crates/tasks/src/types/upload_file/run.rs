//! Executor of `upload_file`.

use super::spec::Spec;
use crate::host::HostFuture;
use crate::outcome::TaskOutcome;
use crate::task_type::{Context, message_summary};
use crate::values::Values;

pub(super) fn run<'a>(values: &'a Values, cx: Context<'a>) -> HostFuture<'a, TaskOutcome> {
    Box::pin(async move {
        let Spec { file, overwrites } = Spec::read(values)?;
        if !overwrites && cx.host.exists(&file.path).await? {
            return Ok(message_summary(format!("{} exists and was not overwritten", file.path.display())));
        }
        cx.host.write(file).await?;
        Ok(message_summary("1 file written"))
    })
}
