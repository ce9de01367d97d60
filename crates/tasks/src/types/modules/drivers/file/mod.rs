//! `file`: writes the payload to a path.

use std::path::PathBuf;

use super::{Driver, DriverError, DriverResult, Payload};
use crate::context::Context;
use crate::host::{Command, FileToWrite, HostChange};
use crate::parameter::permissions;
use crate::types::files::{absolute, owner_of};
use crate::types::modules::contents::{settings, split};

const PERMISSIONS: u32 = 0o644;
const KEYS: [&str; 4] = ["path", "mode", "owner", "group"];

pub(super) const DRIVER: Driver = Driver {
    name: "file",
    description: "Writes the payload after the first empty line to `path`, with the `mode`, `owner` and `group` given before it.",
    admin_only: true,
    apply: |payload, cx| Box::pin(apply(payload, cx)),
    remove: |payload, cx| Box::pin(remove(payload, cx)),
};

async fn apply(payload: Payload<'_>, cx: Context<'_>) -> DriverResult {
    let file = read(payload.contents)?;
    let message = format!("{} was written", file.path.display());
    cx.host.change(HostChange::Write(file)).await?;
    Ok(message)
}

async fn remove(payload: Payload<'_>, cx: Context<'_>) -> DriverResult {
    let path = read(payload.contents)?.path.display().to_string();
    let exit = cx.host.run(Command::argv(["rm", "-f", "--", &path])).await?;
    if exit.is_success() {
        Ok(format!("{path} was removed"))
    } else {
        Err(DriverError::Failed(exit.describe()))
    }
}

fn read(contents: &[u8]) -> Result<FileToWrite, DriverError> {
    let expected =
        "expected the lines `path=…`, `mode=…`, `owner=…`, `group=…` and an empty line before the payload";
    let (head, data) =
        split(contents).ok_or_else(|| DriverError::failed(format!("missing empty line; {expected}")))?;
    let settings = settings(head)?;
    if let Some(unknown) = settings.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(DriverError::failed(format!("unknown key `{unknown}`; {expected}")));
    }
    let text = |key: &str| settings.get(key).cloned().unwrap_or_default();
    let path: PathBuf = absolute(text("path")).map_err(|_| {
        DriverError::failed(format!("`path` must be the absolute path of a file; {expected}"))
    })?;
    let mode = match settings.get("mode") {
        None => PERMISSIONS,
        Some(mode) => permissions(mode)
            .ok_or_else(|| DriverError::failed("`mode` must be octal, for example `mode=0644`"))?,
    };
    Ok(FileToWrite {
        parents: Some(0o755),
        owner: owner_of(&text("owner"), &text("group")),
        ..FileToWrite::new(path, data.to_vec(), mode)
    })
}
