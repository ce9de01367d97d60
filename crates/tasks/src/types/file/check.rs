//! Check of `file`.

use stoker_model::HostDifference;

use super::spec::{PERMISSIONS_DEFAULT, Spec};
use crate::context::Context;
use crate::host::{FileKind, FileOwner, FileToWrite, HostChange, HostFuture};
use crate::outcome::Failure;
use crate::resource::Step;
use crate::types::files::step_of;
use crate::values::Values;

pub(super) fn check<'a>(values: &'a Values, cx: Context<'a>) -> HostFuture<'a, Result<Vec<Step>, Failure>> {
    Box::pin(async move {
        let spec = Spec::read(values)?;
        let step = if spec.is_absent { absent(&spec, cx).await? } else { present(spec, cx).await? };
        Ok(step.into_iter().collect())
    })
}

async fn absent(spec: &Spec, cx: Context<'_>) -> Result<Option<Step>, Failure> {
    let Some(entry) = cx.host.inspect_link(&spec.path).await? else { return Ok(None) };
    let subject = spec.path.display().to_string();
    if entry.kind == FileKind::Directory {
        let hint = "remove it with a task of type `directory`";
        return Err(Failure::failed(format!("`{subject}` is a directory, not a file; {hint}")));
    }
    let difference = HostDifference::value(subject, "state", Some("present".to_owned()), None);
    Ok(Some(Step::new(difference, HostChange::Remove(spec.path.clone()))))
}

async fn present(spec: Spec, cx: Context<'_>) -> Result<Option<Step>, Failure> {
    let Spec { path, content, permissions, owner, validate, keeps_backup, detail, .. } = spec;
    // Attributes that are not managed stay as they are, also when the file is replaced.
    let current = cx.host.inspect(&path).await?;
    let is_file = current.as_ref().is_some_and(|entry| matches!(entry.kind, FileKind::File { .. }));
    let content = match content {
        Some(content) => content,
        None if is_file => cx.host.read(&path).await?,
        None => Vec::new(),
    };
    let (kept_permissions, kept_owner) = match current {
        Some(entry) => (entry.permissions, FileOwner { user: Some(entry.user), group: Some(entry.group) }),
        None => (PERMISSIONS_DEFAULT, FileOwner::default()),
    };
    let owner = FileOwner { user: owner.user.or(kept_owner.user), group: owner.group.or(kept_owner.group) };
    let permissions = permissions.unwrap_or(kept_permissions);
    let file = FileToWrite { owner, validate, keeps_backup, ..FileToWrite::new(path, content, permissions) };
    step_of(file, cx.host, detail).await
}
