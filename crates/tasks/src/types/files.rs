//! What the types that put files on a node have in common.

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::host::{FileToWrite, Owner};
use crate::outcome::Failure;
use crate::parameter::{Kind, Parameter};
use crate::task_type::Context;
use crate::values::Values;

/// Under which name data travels that is no text.
pub(super) const DATA_BASE64: &str = "data_base64";

pub(super) const PERMISSIONS: Parameter =
    Parameter::default("permissions", Kind::Permissions, "0644", "Permissions of the file.");
pub(super) const DIR_PERMISSIONS: Parameter = Parameter::default(
    "dir_permissions",
    Kind::Permissions,
    "0755",
    "Permissions of folders that have to be made.",
);
pub(super) const OWN_PERMISSIONS: Parameter =
    Parameter::optional("permissions", Kind::Permissions, "Permissions of this file.");
pub(super) const OWN_DIR_PERMISSIONS: Parameter =
    Parameter::optional("dir_permissions", Kind::Permissions, "Permissions of folders made for this file.");

/// One file of a list; what it does not say itself is said for all of them.
pub(super) fn file_of(own: &Values, all: &Values) -> Result<FileToWrite, Failure> {
    let permissions = |name: &str| if own.has(name) { own.permissions(name) } else { all.permissions(name) };
    let path = absolute(own.text("dst"))?;
    let data = match data_of(own) {
        Some(data) => data?,
        None => return Err(Failure::refused(format!("no data came with `{}`", path.display()))),
    };
    Ok(FileToWrite {
        path,
        data,
        permissions: permissions("permissions"),
        parents: Some(permissions("dir_permissions")),
        owner: None,
    })
}

/// Text, or bytes in Base64.
pub(super) fn data_of(values: &Values) -> Option<Result<Vec<u8>, Failure>> {
    if values.has("data") {
        return Some(Ok(values.text("data").into_bytes()));
    }
    values.has(DATA_BASE64).then(|| {
        STANDARD
            .decode(values.text(DATA_BASE64))
            .map_err(|error| Failure::refused(format!("`{DATA_BASE64}` is no Base64: {error}")))
    })
}

pub(super) fn to_base64(data: &[u8]) -> String {
    STANDARD.encode(data)
}

/// A relative path would depend on where the agent was started.
pub(super) fn absolute(path: String) -> Result<PathBuf, Failure> {
    let path = PathBuf::from(path);
    if path.is_absolute() && path.file_name().is_some() {
        return Ok(path);
    }
    Err(Failure::refused(format!("`{}` must be the absolute path of a file", path.display())))
}

/// Both or none; half of an owner is completed with the user's name.
pub(super) fn owner_of(user: &str, group: &str) -> Option<Owner> {
    match (user, group) {
        ("", "") => None,
        (user, "") => Some(Owner { user: user.to_owned(), group: user.to_owned() }),
        ("", group) => Some(Owner { user: "root".to_owned(), group: group.to_owned() }),
        (user, group) => Some(Owner { user: user.to_owned(), group: group.to_owned() }),
    }
}

/// All or, after the first that fails, no further ones.
pub(super) async fn write_all(files: Vec<FileToWrite>, cx: Context<'_>) -> Result<usize, Failure> {
    let n_files = files.len();
    for file in files {
        cx.host.write(file).await?;
    }
    Ok(n_files)
}
