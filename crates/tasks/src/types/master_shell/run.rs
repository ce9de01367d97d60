//! Executor of `master_shell`. The server sends these tasks to the agent of the master; the executor does not
//! check this.

use super::spec::Spec;
use crate::context::Context;
use crate::host::HostFuture;
use crate::outcome::TaskOutcome;
use crate::types::shell::run_script;
use crate::values::Values;

pub(super) fn run<'a>(values: &'a Values, cx: Context<'a>) -> HostFuture<'a, TaskOutcome> {
    Box::pin(async move { run_script(Spec::read(values)?, cx).await })
}
