//! `file`: puts the payload at a path.

use std::path::PathBuf;

use super::{Driver, Payload, Told, Trouble};
use crate::host::{Command, FileToWrite};
use crate::parameter::permissions;
use crate::task_type::Context;
use crate::types::files::{absolute, owner_of};
use crate::types::modules::contents::{settings, split};

const PERMISSIONS: u32 = 0o644;
const KEYS: [&str; 4] = ["path", "mode", "owner", "group"];

pub(super) const DRIVER: Driver = Driver {
    name: "file",
    about: "Writes what follows an empty line to `path`, with `mode`, `owner` and `group` of the lines before it.",
    admin_only: true,
    apply: |payload, cx| Box::pin(apply(payload, cx)),
    remove: |payload, cx| Box::pin(remove(payload, cx)),
};

async fn apply(payload: Payload<'_>, cx: Context<'_>) -> Told {
    let file = read(payload.contents)?;
    let told = format!("{} was written", file.path.display());
    cx.host.write(file).await?;
    Ok(told)
}

async fn remove(payload: Payload<'_>, cx: Context<'_>) -> Told {
    let path = read(payload.contents)?.path.display().to_string();
    let exit = cx.host.run(Command::argv(["rm", "-f", "--", &path])).await?;
    if exit.is_success() { Ok(format!("{path} was removed")) } else { Err(Trouble::Failed(exit.told())) }
}

fn read(contents: &[u8]) -> Result<FileToWrite, Trouble> {
    let expected =
        "the contents of a file begin with lines `path=…`, `mode=…`, `owner=…`, `group=…` and an empty line";
    let (head, data) = split(contents).ok_or_else(|| Trouble::failed(expected))?;
    let settings = settings(head).map_err(Trouble::Failed)?;
    if let Some(unknown) = settings.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(Trouble::failed(format!("unknown key `{unknown}`; {expected}")));
    }
    let text = |key: &str| settings.get(key).cloned().unwrap_or_default();
    let path: PathBuf = absolute(text("path"))
        .map_err(|_| Trouble::failed(format!("`path` must be the absolute path of a file; {expected}")))?;
    let mode = match settings.get("mode") {
        None => PERMISSIONS,
        Some(mode) => permissions(mode)
            .ok_or_else(|| Trouble::failed("`mode` must be octal digits, as in `mode=0644`"))?,
    };
    Ok(FileToWrite {
        path,
        data: data.to_vec(),
        permissions: mode,
        parents: Some(0o755),
        owner: owner_of(&text("owner"), &text("group")),
    })
}
