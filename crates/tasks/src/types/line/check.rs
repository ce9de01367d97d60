//! Check of `line`.

use super::spec::Spec;
use crate::context::Context;
use crate::host::{FileKind, FileOwner, FileToWrite, HostFuture};
use crate::outcome::Failure;
use crate::resource::Step;
use crate::types::files::{DiffDetail, step_of};
use crate::values::Values;

/// Permissions of a file that is created.
const PERMISSIONS: u32 = 0o644;

pub(super) fn check<'a>(values: &'a Values, cx: Context<'a>) -> HostFuture<'a, Result<Vec<Step>, Failure>> {
    Box::pin(async move {
        let Spec { path, edit, creates, validate, keeps_backup } = Spec::read(values)?;
        let subject = path.display().to_string();
        let file = if let Some(entry) = cx.host.inspect(&path).await? {
            let FileKind::File { .. } = entry.kind else {
                return Err(Failure::failed(format!("`{subject}` is {}, not a file", entry.kind.name())));
            };
            let data = cx.host.read(&path).await?;
            let text = String::from_utf8(data)
                .map_err(|_| Failure::failed(format!("`{subject}` is not valid UTF-8 text")))?;
            let data = edit.apply(&text).into_bytes();
            let owner = FileOwner { user: Some(entry.user), group: Some(entry.group) };
            FileToWrite { owner, ..FileToWrite::new(path, data, entry.permissions) }
        } else {
            let data = edit.apply("").into_bytes();
            if data.is_empty() {
                return Ok(Vec::new());
            }
            if !creates {
                let hint = "set `create: true` to create it";
                return Err(Failure::failed(format!("`{subject}` does not exist; {hint}")));
            }
            FileToWrite::new(path, data, PERMISSIONS)
        };
        let file = FileToWrite { validate, keeps_backup, ..file };
        Ok(step_of(file, cx.host, DiffDetail::Content).await?.into_iter().collect())
    })
}
