//! Executor of `shell`.

use super::spec::{Spec, plain_words};
use crate::context::Context;
use crate::host::{Command, HostFuture};
use crate::outcome::{Failure, TaskOutcome};
use crate::values::Values;
use stoker_model::TaskReport;

pub(super) fn run<'a>(values: &'a Values, cx: Context<'a>) -> HostFuture<'a, TaskOutcome> {
    Box::pin(async move { run_script(Spec::read(values)?, cx).await })
}

/// Runs a script. Shared with `master_shell`.
pub(in crate::types) async fn run_script(spec: Spec, cx: Context<'_>) -> TaskOutcome {
    let exit = cx.host.run(command_of(spec, cx)).await?;
    if exit.is_success() {
        return Ok(TaskReport::default());
    }
    Err(Failure::failed(exit.describe()))
}

/// Returns the program that executes a script.
pub(in crate::types) fn command_of(spec: Spec, cx: Context<'_>) -> Command {
    let command = match plain_words(&spec.cmd) {
        Some(words) => Command::argv(words),
        None => Command::script(spec.cmd),
    };
    let mut command = command.cwd(spec.cwd).env("STOKER_NODE", cx.node);
    command.env.extend(spec.env);
    command
}
