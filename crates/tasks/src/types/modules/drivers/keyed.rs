//! Generic driver that writes one value of the contents to a file. A specific driver is a [`Keyed`]
//! configuration.

use std::path::PathBuf;

use super::{DriverError, DriverResult, Payload};
use crate::context::Context;
use crate::host::{Command, FileToWrite, HostChange};
use crate::types::modules::contents::settings;

pub(super) struct Keyed {
    /// Required key.
    pub(super) key: &'static str,
    /// File to write and its template; `{}` is replaced by the value.
    pub(super) path: &'static str,
    pub(super) text: &'static str,
    pub(super) permissions: u32,
}

pub(super) async fn apply(keyed: &'static Keyed, payload: Payload<'_>, cx: Context<'_>) -> DriverResult {
    let settings = settings(payload.contents)?;
    let value = settings.get(keyed.key).filter(|value| !value.is_empty());
    let value =
        value.ok_or_else(|| DriverError::failed(format!("'{}' not found in contents file", keyed.key)))?;
    let (path, data) = (PathBuf::from(keyed.path), keyed.text.replace("{}", value).into_bytes());
    let file = FileToWrite { parents: Some(0o755), ..FileToWrite::new(path, data, keyed.permissions) };
    cx.host.change(HostChange::Write(file)).await?;
    Ok(format!("{} was set", keyed.key))
}

pub(super) async fn remove(keyed: &'static Keyed, cx: Context<'_>) -> DriverResult {
    let exit = cx.host.run(Command::argv(["rm", "-f", "--", keyed.path])).await?;
    if exit.is_success() {
        Ok(format!("{} was removed", keyed.key))
    } else {
        Err(DriverError::Failed(exit.describe()))
    }
}
