//! Key drivers: one value of the contents, in a file of its own. A driver of this kind is a configuration and no code.

use std::path::PathBuf;

use super::{Payload, Told, Trouble};
use crate::host::{Command, FileToWrite};
use crate::task_type::Context;
use crate::types::modules::contents::settings;

pub(super) struct Keyed {
    /// The key that has to be in the contents.
    pub(super) key: &'static str,
    /// The file it goes into, and what is written there; `{}` is the value.
    pub(super) path: &'static str,
    pub(super) text: &'static str,
    pub(super) permissions: u32,
}

pub(super) async fn apply(keyed: &'static Keyed, payload: Payload<'_>, cx: Context<'_>) -> Told {
    let settings = settings(payload.contents).map_err(Trouble::Failed)?;
    let value = settings.get(keyed.key).filter(|value| !value.is_empty());
    let value =
        value.ok_or_else(|| Trouble::failed(format!("'{}' not found in contents file", keyed.key)))?;
    let file = FileToWrite {
        path: PathBuf::from(keyed.path),
        data: keyed.text.replace("{}", value).into_bytes(),
        permissions: keyed.permissions,
        parents: Some(0o755),
        owner: None,
    };
    cx.host.write(file).await?;
    Ok(format!("{} was set", keyed.key))
}

pub(super) async fn remove(keyed: &'static Keyed, cx: Context<'_>) -> Told {
    let exit = cx.host.run(Command::argv(["rm", "-f", "--", keyed.path])).await?;
    if exit.is_success() {
        Ok(format!("{} was removed", keyed.key))
    } else {
        Err(Trouble::Failed(exit.told()))
    }
}
