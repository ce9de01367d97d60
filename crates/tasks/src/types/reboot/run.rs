//! Carries out `reboot`.

use crate::host::Work;
use crate::outcome::Outcome;
use crate::task_type::{Context, told};
use crate::values::Values;

pub(super) fn run<'a>(_values: &'a Values, cx: Context<'a>) -> Work<'a, Outcome> {
    Box::pin(async move {
        cx.host.reboot().await?;
        Ok(told(if cx.is_noop() { "the node would reboot" } else { "the node was rebooted" }))
    })
}
