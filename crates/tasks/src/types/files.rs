//! Code shared by the types that write files.

use std::fmt::Write as _;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};
use similar::TextDiff;
use stoker_model::HostDifference;

use crate::host::{FileEntry, FileKind, FileOwner, FileToWrite, Host, HostChange};
use crate::outcome::Failure;
use crate::parameter::{Parameter, ParameterType};
use crate::resource::Step;
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
pub(super) const MODE: Parameter =
    Parameter::optional("mode", ParameterType::Permissions, "Permissions; not managed if they are not set.")
        .aliases(&["permissions"]);
pub(super) const OWNER: Parameter =
    Parameter::optional("owner", ParameterType::Text, "User that owns it; not managed if it is not set.");
pub(super) const GROUP: Parameter =
    Parameter::optional("group", ParameterType::Text, "Group that owns it; not managed if it is not set.");
pub(super) const STATE: Parameter = Parameter::default(
    "state",
    ParameterType::Choice(&["present", "absent"]),
    "present",
    "Whether it exists.",
);
pub(super) const OWN_PERMISSIONS: Parameter =
    Parameter::optional("permissions", ParameterType::Permissions, "Permissions of this file.");
pub(super) const OWN_DIR_PERMISSIONS: Parameter = Parameter::optional(
    "dir_permissions",
    ParameterType::Permissions,
    "Permissions of parent directories created for this file.",
);

pub(super) const VALIDATE: Parameter = Parameter::optional(
    "validate",
    ParameterType::Text,
    "Shell command that must succeed before the file is replaced; `%s` is the path of the new file.",
);
pub(super) const BACKUP: Parameter =
    Parameter::default("backup", ParameterType::Boolean, "false", "Keep the previous file as `PATH.~N~`.");

/// Reads [`VALIDATE`].
pub(super) fn validate_command(values: &Values) -> Result<Option<String>, Failure> {
    let command = values.opt_text("validate");
    if command.as_ref().is_some_and(|command| !command.contains("%s")) {
        let message = "`validate` must contain `%s`, which stands for the path of the new file";
        return Err(Failure::refused(message));
    }
    Ok(command)
}

/// Reports whether [`STATE`] is `absent`.
pub(super) fn is_absent(values: &Values) -> bool {
    values.text("state") == "absent"
}

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
        parents: Some(permissions("dir_permissions")),
        ..FileToWrite::new(path, data, permissions("permissions"))
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

/// Returns the owner of a file. Without a group, the name of the user is used; without a user, root. Empty if
/// neither is set.
pub(super) fn owner_of(user: &str, group: &str) -> FileOwner {
    let (user, group) = match (user, group) {
        ("", "") => return FileOwner::default(),
        (user, "") => (user, user),
        ("", group) => ("root", group),
        (user, group) => (user, group),
    };
    FileOwner { user: Some(user.to_owned()), group: Some(group.to_owned()) }
}

/// Returns the steps that give files their contents, permissions and owners.
pub(super) async fn steps_of(files: Vec<FileToWrite>, host: &dyn Host) -> Result<Vec<Step>, Failure> {
    let mut steps = Vec::new();
    for file in files {
        steps.extend(step_of(file, host, DiffDetail::Content).await?);
    }
    Ok(steps)
}

/// How much of the contents a difference shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DiffDetail {
    Content,
    Digest,
}

/// Returns the step that gives a file its content, permissions and owner; `None` if it has them.
pub(super) async fn step_of(
    file: FileToWrite,
    host: &dyn Host,
    detail: DiffDetail,
) -> Result<Option<Step>, Failure> {
    let subject = file.path.display().to_string();
    let Some(entry) = host.inspect(&file.path).await? else {
        let state = HostDifference::value(&subject, "state", None, Some("present".to_owned()));
        let content = content_difference(&subject, None, &file.data, detail);
        let differences = [state].into_iter().chain(content).collect();
        return Ok(Some(Step { differences, changes: vec![HostChange::Write(file)], is_action: false }));
    };
    let FileKind::File { .. } = entry.kind else {
        return Err(Failure::failed(format!("`{subject}` is {}, not a file", entry.kind.name())));
    };
    let current = host.read(&file.path).await?;
    let mut differences: Vec<HostDifference> = (current != file.data)
        .then(|| content_difference(&subject, Some(&current), &file.data, detail))
        .flatten()
        .into_iter()
        .collect();
    let is_rewritten = !differences.is_empty();
    let mut changes = Vec::new();
    let permissions = permission_difference(&subject, &entry, file.permissions);
    let owner = owner_difference(&subject, &entry, &file.owner);
    if is_rewritten {
        differences.extend(permissions.into_iter().chain(owner));
        changes.push(HostChange::Write(file));
    } else {
        let FileToWrite { path, permissions: mode, owner: desired, .. } = file;
        // The owner first: the kernel clears set-user-id bits when the owner changes.
        if owner.is_some() {
            changes.push(HostChange::SetOwner { path: path.clone(), owner: desired });
        }
        if permissions.is_some() {
            changes.push(HostChange::SetPermissions { path, permissions: mode });
        }
        differences.extend(permissions.into_iter().chain(owner));
    }
    Ok((!changes.is_empty()).then_some(Step { differences, changes, is_action: false }))
}

pub(super) fn permission_difference(
    subject: &str,
    entry: &FileEntry,
    desired: u32,
) -> Option<HostDifference> {
    let text = |permissions: u32| Some(format!("{permissions:04o}"));
    (entry.permissions != desired)
        .then(|| HostDifference::value(subject, "mode", text(entry.permissions), text(desired)))
}

/// Compares user and group, which are desired by name or by number.
pub(super) fn owner_difference(
    subject: &str,
    entry: &FileEntry,
    desired: &FileOwner,
) -> Option<HostDifference> {
    let differs = |desired: &Option<String>, name: &str, number: u32| {
        desired.as_ref().is_some_and(|it| it != name && *it != number.to_string())
    };
    if !differs(&desired.user, &entry.user, entry.uid) && !differs(&desired.group, &entry.group, entry.gid) {
        return None;
    }
    let current = format!("{}:{}", entry.user, entry.group);
    let user = desired.user.as_ref().unwrap_or(&entry.user);
    let group = desired.group.as_ref().unwrap_or(&entry.group);
    Some(HostDifference::value(subject, "owner", Some(current), Some(format!("{user}:{group}"))))
}

/// Maximum size of contents that are compared line by line.
const DIFF_INPUT_BYTES_MAX: usize = 512 << 10;
/// Maximum size of a diff.
const DIFF_BYTES_MAX: usize = 16 << 10;

/// Difference of contents: a unified diff of texts, otherwise sizes and digests. `None` for a new empty file.
fn content_difference(
    subject: &str,
    current: Option<&[u8]>,
    desired: &[u8],
    detail: DiffDetail,
) -> Option<HostDifference> {
    if current.is_none() && desired.is_empty() {
        return None;
    }
    let texts = current.map_or(Some(""), text_of).zip(text_of(desired));
    if let Some((old, new)) = texts.filter(|_| detail == DiffDetail::Content) {
        return Some(HostDifference::text(subject, "content", unified_diff(old, new)));
    }
    Some(HostDifference::value(subject, "content", current.map(digest), Some(digest(desired))))
}

fn text_of(data: &[u8]) -> Option<&str> {
    let is_text = data.len() <= DIFF_INPUT_BYTES_MAX && !data.contains(&0);
    is_text.then(|| std::str::from_utf8(data).ok()).flatten()
}

/// Returns a unified diff without file names. A longer diff is cut.
fn unified_diff(old: &str, new: &str) -> String {
    let mut diff = TextDiff::from_lines(old, new).unified_diff().context_radius(3).to_string();
    if diff.len() > DIFF_BYTES_MAX {
        let end = diff[..diff.floor_char_boundary(DIFF_BYTES_MAX)].rfind('\n').map_or(0, |at| at + 1);
        let n_lines = diff[end..].lines().count();
        diff.truncate(end);
        _ = writeln!(diff, "… {n_lines} more lines");
    }
    diff
}

fn digest(data: &[u8]) -> String {
    let hash = Sha256::digest(data);
    format!("{} bytes, sha256 {}…", data.len(), hex::encode(&hash[..6]))
}
