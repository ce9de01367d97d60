//! How a user gets in: password, lock, expiry and keys.

use std::path::{Path, PathBuf};

use stoker_model::HostDifference;

use super::spec::Spec;
use crate::context::Context;
use crate::host::{Command, FileEntry, FileKind, FileOwner, FileToWrite, HostChange};
use crate::outcome::Failure;
use crate::resource::Step;
use crate::types::accounts::ShadowEntry;
use crate::types::files::{DiffDetail, owner_difference, step_of};

pub(super) fn password_steps(spec: &Spec, current: &ShadowEntry) -> Vec<Step> {
    let mut steps = Vec::new();
    let locked = spec.locked;
    let is_password_set = spec.password.as_ref().is_none_or(|hash| {
        current.hash == *hash || (locked == Some(true) && current.hash.strip_prefix('!') == Some(hash))
    });
    if let Some(hash) = spec.password.as_ref().filter(|_| !is_password_set) {
        steps.push(password(&spec.name, hash));
    }
    // A new password unlocks the account.
    let is_locked = current.is_locked() && is_password_set;
    if let Some(desired) = locked.filter(|desired| *desired != is_locked) {
        let option = if desired { "--lock" } else { "--unlock" };
        let text = |flag: bool| Some(flag.to_string());
        let difference = HostDifference::value(&spec.name, "locked", text(!desired), text(desired));
        let command = Command::argv(["usermod", option, "--", &spec.name]);
        steps.push(Step::new(difference, HostChange::Run(command)));
    }
    steps
}

/// Sets the password through standard input: arguments are visible to all users of the node.
fn password(name: &str, hash: &str) -> Step {
    let command = Command::argv(["chpasswd", "--encrypted"]).stdin(format!("{name}:{hash}\n").into_bytes());
    let hidden = Some("(hidden)".to_owned());
    let difference = HostDifference::value(name, "password", hidden.clone(), hidden);
    Step::new(difference, HostChange::Run(command))
}

/// Steps for the file of authorized keys below the home directory.
pub(super) async fn key_steps(
    spec: &Spec,
    home: &str,
    keys: &[String],
    cx: Context<'_>,
) -> Result<Vec<Step>, Failure> {
    let owner = FileOwner { user: Some(spec.name.clone()), group: None };
    let folder = PathBuf::from(home).join(".ssh");
    let file = folder.join("authorized_keys");
    let mut steps = Vec::new();
    // The user owns both, so a link could lead the agent, which is root, to any file.
    let set_owner = HostChange::SetOwner { path: folder.clone(), owner: owner.clone() };
    let subject = folder.display().to_string();
    match entry(&folder, &FileKind::Directory, cx).await? {
        None if keys.is_empty() => return Ok(steps),
        None => {
            let difference = HostDifference::value(subject, "state", None, Some("present".to_owned()));
            let create = HostChange::CreateDirectory { path: folder, permissions: 0o700 };
            let changes = vec![create, set_owner];
            steps.push(Step { differences: vec![difference], changes, is_action: false });
        }
        Some(entry) => {
            let difference = owner_difference(&subject, &entry, &owner);
            steps.extend(difference.map(|difference| Step::new(difference, set_owner)));
        }
    }
    let current = match entry(&file, &FileKind::File { n_bytes: 0 }, cx).await? {
        Some(_) => String::from_utf8_lossy(&cx.host.read(&file).await?).into_owned(),
        None if keys.is_empty() => return Ok(steps),
        None => String::new(),
    };
    let is_desired = |line: &&str| keys.iter().any(|key| key == line.trim());
    let is_kept = |line: &&str| !spec.exclusive_keys || line.starts_with('#') || is_desired(line);
    let lines: Vec<&str> = current.lines().filter(is_kept).collect();
    let is_missing = |key: &&str| !lines.iter().any(|line| line.trim() == *key);
    let missing: Vec<&str> = keys.iter().map(String::as_str).filter(is_missing).collect();
    let all = lines.iter().chain(&missing);
    let data: String = all.flat_map(|line| [*line, "\n"]).collect();
    let data = if missing.is_empty() && lines.len() == current.lines().count() { current } else { data };
    let file = FileToWrite { owner, ..FileToWrite::new(file, data.into_bytes(), 0o600) };
    steps.extend(step_of(file, cx.host, DiffDetail::Content).await?);
    Ok(steps)
}

/// Returns what is at a path, which must be of this kind.
async fn entry(path: &Path, kind: &FileKind, cx: Context<'_>) -> Result<Option<FileEntry>, Failure> {
    let entry = cx.host.inspect_link(path).await?;
    match &entry {
        Some(other) if std::mem::discriminant(&other.kind) != std::mem::discriminant(kind) => {
            let (path, current, expected) = (path.display(), other.kind.name(), kind.name());
            Err(Failure::failed(format!("`{path}` is {current}, not {expected}")))
        }
        _ => Ok(entry),
    }
}
