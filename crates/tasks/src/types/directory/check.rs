//! Check of `directory`.

use stoker_model::HostDifference;

use super::spec::{PERMISSIONS_DEFAULT, Spec};
use crate::context::Context;
use crate::host::{FileKind, HostChange, HostFuture};
use crate::outcome::Failure;
use crate::resource::Step;
use crate::types::files::{owner_difference, permission_difference};
use crate::values::Values;

pub(super) fn check<'a>(values: &'a Values, cx: Context<'a>) -> HostFuture<'a, Result<Vec<Step>, Failure>> {
    Box::pin(async move {
        let spec = Spec::read(values)?;
        let step = if spec.is_absent { absent(spec, cx).await? } else { present(spec, cx).await? };
        Ok(step.into_iter().collect())
    })
}

async fn absent(spec: Spec, cx: Context<'_>) -> Result<Option<Step>, Failure> {
    let subject = spec.path.display().to_string();
    match cx.host.inspect_link(&spec.path).await?.map(|entry| entry.kind) {
        None => Ok(None),
        Some(FileKind::Directory) => {
            let difference = HostDifference::value(subject, "state", Some("present".to_owned()), None);
            Ok(Some(Step::new(difference, HostChange::RemoveTree(spec.path))))
        }
        Some(kind) => Err(Failure::failed(format!("`{subject}` is {}, not a directory", kind.name()))),
    }
}

async fn present(spec: Spec, cx: Context<'_>) -> Result<Option<Step>, Failure> {
    let Spec { path, permissions, owner, .. } = spec;
    let subject = path.display().to_string();
    let Some(entry) = cx.host.inspect(&path).await? else {
        let difference = HostDifference::value(subject, "state", None, Some("present".to_owned()));
        let permissions = permissions.unwrap_or(PERMISSIONS_DEFAULT);
        let mut step = Step::new(difference, HostChange::CreateDirectory { path: path.clone(), permissions });
        if !owner.is_empty() {
            step.changes.push(HostChange::SetOwner { path, owner });
        }
        return Ok(Some(step));
    };
    if entry.kind != FileKind::Directory {
        return Err(Failure::failed(format!("`{subject}` is {}, not a directory", entry.kind.name())));
    }
    let mut step = Step { differences: Vec::new(), changes: Vec::new(), is_action: false };
    // The owner first: the kernel clears set-group-id bits when the owner changes.
    if let Some(difference) = owner_difference(&subject, &entry, &owner) {
        step.differences.push(difference);
        step.changes.push(HostChange::SetOwner { path: path.clone(), owner });
    }
    if let Some((permissions, difference)) =
        permissions.and_then(|desired| Some((desired, permission_difference(&subject, &entry, desired)?)))
    {
        step.differences.push(difference);
        step.changes.push(HostChange::SetPermissions { path, permissions });
    }
    Ok((!step.changes.is_empty()).then_some(step))
}
