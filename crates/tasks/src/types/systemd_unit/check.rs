//! Check of `systemd_unit`.

use stoker_model::HostDifference;

use super::spec::Spec;
use crate::context::Context;
use crate::host::{Command, CommandEffect, FileToWrite, HostChange, HostFuture};
use crate::outcome::Failure;
use crate::resource::Step;
use crate::types::files::{DiffDetail, step_of};
use crate::values::Values;

pub(super) fn check<'a>(values: &'a Values, cx: Context<'a>) -> HostFuture<'a, Result<Vec<Step>, Failure>> {
    Box::pin(async move {
        let Spec { name, path, content } = Spec::read(values)?;
        let step = match content {
            Some(content) => {
                let file = FileToWrite::new(path, content, 0o644);
                step_of(file, cx.host, DiffDetail::Content).await?
            }
            None if cx.host.inspect_link(&path).await?.is_some() => {
                let subject = path.display().to_string();
                let difference = HostDifference::value(subject, "state", Some("present".to_owned()), None);
                Some(Step::new(difference, HostChange::Remove(path)))
            }
            None => None,
        };
        let reload = HostChange::Run(Command::argv(["systemctl", "daemon-reload"]));
        if let Some(mut step) = step {
            step.changes.push(reload);
            return Ok(vec![step]);
        }
        // The attempt that wrote the file may have ended before systemd read it.
        let is_outdated = needs_reload(&name, cx).await?;
        let text = |word: &str| Some(word.to_owned());
        let difference =
            HostDifference::value(name, "configuration in systemd", text("outdated"), text("current"));
        Ok(if is_outdated { vec![Step::new(difference, reload)] } else { Vec::new() })
    })
}

async fn needs_reload(unit: &str, cx: Context<'_>) -> Result<bool, Failure> {
    let words = ["systemctl", "show", "--property=NeedDaemonReload", "--", unit];
    let result = cx.host.query(Command::argv(words).effect(CommandEffect::Reads)).await?;
    if !result.is_success() {
        return Err(Failure::failed(format!("cannot query systemd: {}", result.stderr.trim())));
    }
    Ok(result.stdout.trim() == "NeedDaemonReload=yes")
}
