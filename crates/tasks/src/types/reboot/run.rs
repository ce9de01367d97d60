//! Executor of `reboot`.

use crate::host::Work;
use crate::outcome::Outcome;
use crate::task_type::{Context, message_summary};
use crate::values::Values;

pub(super) fn run<'a>(_values: &'a Values, cx: Context<'a>) -> Work<'a, Outcome> {
    Box::pin(async move {
        cx.host.reboot().await?;
        Ok(message_summary(if cx.is_noop() { "node would reboot" } else { "node rebooted" }))
    })
}
