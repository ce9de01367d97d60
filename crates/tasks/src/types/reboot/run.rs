//! Executor of `reboot`.

use crate::host::HostFuture;
use crate::outcome::TaskOutcome;
use crate::task_type::{Context, message_summary};
use crate::values::Values;

pub(super) fn run<'a>(_values: &'a Values, cx: Context<'a>) -> HostFuture<'a, TaskOutcome> {
    Box::pin(async move {
        cx.host.reboot().await?;
        Ok(message_summary(if cx.is_noop() { "node would reboot" } else { "node rebooted" }))
    })
}
