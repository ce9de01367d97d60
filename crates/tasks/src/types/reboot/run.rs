//! Executor of `reboot`.

use crate::context::Context;
use crate::host::HostFuture;
use crate::outcome::{TaskOutcome, message_report};
use crate::values::Values;

pub(super) fn run<'a>(_values: &'a Values, cx: Context<'a>) -> HostFuture<'a, TaskOutcome> {
    Box::pin(async move {
        cx.host.reboot().await?;
        Ok(message_report(if cx.is_noop() { "node would reboot" } else { "node rebooted" }))
    })
}
