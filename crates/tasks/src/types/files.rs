//! Code shared by the types that write files.

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::host::{FileOwner, FileToWrite};
use crate::outcome::Failure;
use crate::parameter::{Parameter, ParameterType};
use crate::task_type::Context;
use crate::values::Values;

/// Parameter for content that is not valid UTF-8.
pub(super) const DATA_BASE64: &str = "data_base64";

pub(super) const PERMISSIONS: Parameter =
    Parameter::default("permissions", ParameterType::Permissions, "0644", "Permissions of the file.");
pub(super) const DIR_PERMISSIONS: Parameter = Parameter::default(
    "dir_permissions",
    ParameterType::Permissions,
    "0755",
    "Permissions of created parent directories.",
);
pub(super) const OWN_PERMISSIONS: Parameter =
    Parameter::optional("permissions", ParameterType::Permissions, "Permissions of this file.");
pub(super) const OWN_DIR_PERMISSIONS: Parameter = Parameter::optional(
    "dir_permissions",
    ParameterType::Permissions,
    "Permissions of parent directories created for this file.",
);

/// Converts one file of a list. Permissions of the file override the permissions of the task.
pub(super) fn file_of(file: &Values, task: &Values) -> Result<FileToWrite, Failure> {
    let permissions =
        |name: &str| if file.has(name) { file.permissions(name) } else { task.permissions(name) };
    let path = absolute(file.text("dst"))?;
    let data = match data_of(file) {
        Some(data) => data?,
        None => {
            return Err(Failure::refused(format!(
                "`{}` has neither `data` nor `{DATA_BASE64}`",
                path.display()
            )));
        }
    };
    Ok(FileToWrite {
        path,
        data,
        permissions: permissions("permissions"),
        parents: Some(permissions("dir_permissions")),
        owner: None,
    })
}

/// Returns the content as text or Base64; `None` if there is neither.
pub(super) fn data_of(values: &Values) -> Option<Result<Vec<u8>, Failure>> {
    if values.has("data") {
        return Some(Ok(values.text("data").into_bytes()));
    }
    values.has(DATA_BASE64).then(|| {
        STANDARD
            .decode(values.text(DATA_BASE64))
            .map_err(|error| Failure::refused(format!("`{DATA_BASE64}` is not valid Base64: {error}")))
    })
}

pub(super) fn to_base64(data: &[u8]) -> String {
    STANDARD.encode(data)
}

/// Returns an absolute path. A relative path is rejected, because it would depend on the working directory of
/// the agent.
pub(super) fn absolute(path: String) -> Result<PathBuf, Failure> {
    let path = PathBuf::from(path);
    if path.is_absolute() && path.file_name().is_some() {
        return Ok(path);
    }
    Err(Failure::refused(format!("`{}` must be the absolute path of a file", path.display())))
}

/// Returns the owner of a file. Without a group, the name of the user is used; without a user, root. `None`
/// if neither is set.
pub(super) fn owner_of(user: &str, group: &str) -> Option<FileOwner> {
    match (user, group) {
        ("", "") => None,
        (user, "") => Some(FileOwner { user: user.to_owned(), group: user.to_owned() }),
        ("", group) => Some(FileOwner { user: "root".to_owned(), group: group.to_owned() }),
        (user, group) => Some(FileOwner { user: user.to_owned(), group: group.to_owned() }),
    }
}

/// Writes files until the first failure; returns their number.
pub(super) async fn write_all(files: Vec<FileToWrite>, cx: Context<'_>) -> Result<usize, Failure> {
    let n_files = files.len();
    for file in files {
        cx.host.write(file).await?;
    }
    Ok(n_files)
}
