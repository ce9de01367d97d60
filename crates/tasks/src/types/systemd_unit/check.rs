//! Check of `systemd_unit`.

use stoker_model::HostDifference;

use super::spec::Spec;
use crate::context::Context;
use crate::host::{FileToWrite, HostChange, HostFuture};
use crate::outcome::Failure;
use crate::resource::Step;
use crate::types::files::{DiffDetail, step_of};
use crate::values::Values;

pub(super) fn check<'a>(values: &'a Values, cx: Context<'a>) -> HostFuture<'a, Result<Vec<Step>, Failure>> {
    Box::pin(async move {
        let Spec { unit, path, content } = Spec::read(values)?;
        let step = match content {
            Some(content) => {
                let file = FileToWrite { parents: Some(0o755), ..FileToWrite::new(path, content, 0o644) };
                step_of(file, cx.host, DiffDetail::Content).await?
            }
            None if cx.host.inspect_link(&path).await?.is_some() => {
                let subject = path.display().to_string();
                let difference = HostDifference::value(subject, "state", Some("present".to_owned()), None);
                Some(Step::new(difference, HostChange::Remove(path)))
            }
            None => None,
        };
        let reload = HostChange::ReloadUnits;
        if let Some(mut step) = step {
            step.changes.push(reload);
            return Ok(vec![step]);
        }
        // The attempt that wrote the file may have ended before systemd read it.
        // A template is never loaded.
        let is_outdated = !unit.contains("@.") && cx.host.unit(&unit).await?.needs_reload;
        let text = |word: &str| Some(word.to_owned());
        let difference =
            HostDifference::value(unit, "configuration in systemd", text("outdated"), text("current"));
        Ok(if is_outdated { vec![Step::new(difference, reload)] } else { Vec::new() })
    })
}
