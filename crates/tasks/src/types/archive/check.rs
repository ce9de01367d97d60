//! Check of `archive`.

use stoker_model::HostDifference;

use super::spec::{Content, Spec};
use crate::context::Context;
use crate::host::{ArchiveToUnpack, FileKind, HostChange, HostFuture};
use crate::outcome::Failure;
use crate::resource::Step;
use crate::types::files::owner_difference;
use crate::values::Values;

pub(super) fn check<'a>(values: &'a Values, cx: Context<'a>) -> HostFuture<'a, Result<Vec<Step>, Failure>> {
    Box::pin(async move {
        let Spec { dest, content } = Spec::read(values)?;
        let subject = dest.display().to_string();
        let entry = cx.host.inspect_link(&dest).await?;
        if let Some(entry) = entry.as_ref().filter(|entry| entry.kind != FileKind::Directory) {
            return Err(Failure::failed(format!("`{subject}` is {}, not a directory", entry.kind.name())));
        }
        let marker = dest.join(ArchiveToUnpack::MARKER);
        let current = match cx.host.inspect(&marker).await? {
            Some(_) => Some(String::from_utf8_lossy(&cx.host.read(&marker).await?).into_owned()),
            None => None,
        };
        let Some(Content { source, sha256, strip, owner }) = content else {
            let difference = HostDifference::value(subject, "state", Some("present".to_owned()), None);
            let step = entry.map(|_| Step::new(difference, HostChange::RemoveTree(dest)));
            return Ok(step.into_iter().collect());
        };
        let archive = ArchiveToUnpack { source, dest, sha256, strip, owner };
        let desired = archive.marker();
        let is_unpacked = current.as_ref() == Some(&desired);
        // All files have the owner of the directory.
        let owner = entry.as_ref().and_then(|entry| owner_difference(&subject, entry, &archive.owner));
        if is_unpacked && owner.is_none() {
            return Ok(Vec::new());
        }
        let line = |text: &str| text.trim_end().to_owned();
        let content = (!is_unpacked).then(|| {
            let old = current.as_deref().map(line);
            HostDifference::value(&subject, "archive", old, Some(line(&desired)))
        });
        let differences = content.into_iter().chain(owner).collect();
        Ok(vec![Step { differences, changes: vec![HostChange::Unpack(archive)], is_action: false }])
    })
}
