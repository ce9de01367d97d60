//! Executor of `command`.

use stoker_model::TaskReport;

use super::spec::{ChangedWhen, Spec};
use crate::context::Context;
use crate::host::{Command, CommandEffect, Exit, HostFuture, Status};
use crate::outcome::{Failure, TaskOutcome, message_report};
use crate::types::shell::command_of;
use crate::values::Values;

pub(super) fn run<'a>(values: &'a Values, cx: Context<'a>) -> HostFuture<'a, TaskOutcome> {
    Box::pin(async move {
        let spec = Spec::read(values)?;
        if let Some(reason) = reason_to_skip(&spec, cx).await? {
            return Ok(TaskReport { changed: Some(false), ..message_report(reason) });
        }
        let exit = cx.host.run(command_of(spec.command, cx)).await?;
        let changed = match spec.changed_when {
            // Only the command itself could tell.
            ChangedWhen::Codes(_) | ChangedWhen::Output(_) if cx.is_noop() => None,
            _ => Some(changed(&spec.changed_when, &exit)),
        };
        let report = TaskReport { changed, ..TaskReport::default() };
        let is_expected = match (&spec.changed_when, exit.status) {
            (ChangedWhen::Codes(codes), Status::Code(code)) => codes.contains(&code),
            _ => false,
        };
        if exit.is_success() || is_expected {
            return Ok(report);
        }
        // A command that failed may have changed something before.
        Err(Failure::failed(exit.describe()).report(TaskReport { changed: None, ..report }))
    })
}

/// Returns why the command is unnecessary.
async fn reason_to_skip(spec: &Spec, cx: Context<'_>) -> Result<Option<String>, Failure> {
    if let Some(path) = &spec.creates
        && cx.host.inspect_link(path).await?.is_some()
    {
        return Ok(Some(format!("not run: `{}` exists", path.display())));
    }
    if let Some(command) = &spec.unless
        && succeeds(command, spec, cx).await?
    {
        return Ok(Some(format!("not run: `{command}` succeeds")));
    }
    if let Some(command) = &spec.only_if
        && !succeeds(command, spec, cx).await?
    {
        return Ok(Some(format!("not run: `{command}` fails")));
    }
    Ok(None)
}

async fn succeeds(command: &str, spec: &Spec, cx: Context<'_>) -> Result<bool, Failure> {
    let mut query = Command::script(command).cwd(spec.command.cwd.clone()).effect(CommandEffect::Reads);
    query.env.extend(spec.command.env.iter().cloned());
    Ok(cx.host.query(query).await?.is_success())
}

fn changed(rule: &ChangedWhen, exit: &Exit) -> bool {
    match rule {
        ChangedWhen::Always => true,
        ChangedWhen::Codes(codes) => matches!(exit.status, Status::Code(code) if codes.contains(&code)),
        ChangedWhen::Output(regex) => regex.is_match(&exit.stdout_tail),
    }
}
