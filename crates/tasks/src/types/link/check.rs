//! Check of `link`.

use std::path::Path;

use stoker_model::HostDifference;

use super::spec::Spec;
use crate::context::Context;
use crate::host::{FileKind, HostChange, HostFuture};
use crate::outcome::Failure;
use crate::resource::Step;
use crate::values::Values;

pub(super) fn check<'a>(values: &'a Values, cx: Context<'a>) -> HostFuture<'a, Result<Vec<Step>, Failure>> {
    Box::pin(async move {
        let Spec { path, target } = Spec::read(values)?;
        let subject = path.display().to_string();
        let current = match cx.host.inspect_link(&path).await?.map(|entry| entry.kind) {
            None => None,
            Some(FileKind::Link { target }) => Some(target),
            Some(kind) => {
                let message = format!("`{subject}` is {}, not a symbolic link; remove it first", kind.name());
                return Err(Failure::failed(message));
            }
        };
        if current == target {
            return Ok(Vec::new());
        }
        let text = |path: &Path| path.display().to_string();
        let difference = HostDifference::value(
            subject,
            "target",
            current.as_deref().map(text),
            target.as_deref().map(text),
        );
        let change = match target {
            Some(target) => HostChange::Link { path, target },
            None => HostChange::Remove(path),
        };
        Ok(vec![Step::new(difference, change)])
    })
}
