//! Check of `mount`.

use std::path::{Component, Path, PathBuf};

use stoker_model::HostDifference;

use super::spec::{FileSystem, MountState, Spec};
use super::tables::{Mounted, edit, mounted_at};
use crate::context::Context;
use crate::host::{Command, FileKind, FileToWrite, HostChange, HostFuture};
use crate::outcome::Failure;
use crate::resource::Step;
use crate::types::files::{DiffDetail, step_of};
use crate::values::Values;

const FSTAB: &str = "/etc/fstab";
const MOUNTINFO: &str = "/proc/self/mountinfo";

pub(super) fn check<'a>(values: &'a Values, cx: Context<'a>) -> HostFuture<'a, Result<Vec<Step>, Failure>> {
    Box::pin(async move {
        let Spec { path, state } = Spec::read(values)?;
        let mountinfo = cx.host.read(Path::new(MOUNTINFO)).await?;
        let current = mounted_at(&String::from_utf8_lossy(&mountinfo), &path);
        match state {
            MountState::Mounted(desired) => mounted(&path, &desired, current.as_ref(), cx).await,
            MountState::Present(desired) => Ok(table(&path, Some(&desired), cx).await?.into_iter().collect()),
            MountState::Unmounted => Ok(unmount(&path, current.as_ref()).into_iter().collect()),
            MountState::Absent => {
                let table = table(&path, None, cx).await?;
                Ok(unmount(&path, current.as_ref()).into_iter().chain(table).collect())
            }
        }
    })
}

async fn mounted(
    path: &str,
    desired: &FileSystem,
    current: Option<&Mounted>,
    cx: Context<'_>,
) -> Result<Vec<Step>, Failure> {
    let mut steps = Vec::new();
    match cx.host.inspect(Path::new(path)).await?.map(|entry| entry.kind) {
        Some(FileKind::Directory) => {}
        Some(kind) => {
            return Err(Failure::failed(format!("`{path}` is {}, not a directory", kind.name())));
        }
        None => {
            let difference = HostDifference::value(path, "state", None, Some("present".to_owned()));
            let create = HostChange::CreateDirectory { path: path.into(), permissions: 0o755 };
            steps.push(Step::new(difference, create));
        }
    }
    let table = table(path, Some(desired), cx).await?;
    let mount = || run(&["mount", "--", path]);
    let Some(current) = current else {
        let difference = HostDifference::value(path, "mounted", None, Some(desired.source.clone()));
        steps.extend(table);
        steps.push(Step::new(difference, mount()));
        return Ok(steps);
    };
    let mut differences = Vec::new();
    if !is_bind(desired) {
        if !is_same_source(&desired.source, &current.source, cx).await? {
            let (old, new) = (current.source.clone(), desired.source.clone());
            differences.push(HostDifference::value(path, "source", Some(old), Some(new)));
        }
        if !is_same_type(&desired.fstype, &current.fstype) {
            let (old, new) = (current.fstype.clone(), desired.fstype.clone());
            differences.push(HostDifference::value(path, "type", Some(old), Some(new)));
        }
    }
    if !differences.is_empty() {
        steps.extend(table);
        let changes = vec![run(&["umount", "--", path]), mount()];
        steps.push(Step { differences, changes, is_action: false });
        return Ok(steps);
    }
    let flags = flag_differences(path, &desired.options, current);
    // With source and path `mount` does not read the table. It runs before the table changes, so that an interruption in
    // between leaves a difference.
    let options = format!("remount,defaults,{}", desired.options);
    let remount = run(&["mount", "-o", &options, "--", &desired.source, path]);
    if !flags.is_empty() {
        steps.push(Step { differences: flags, changes: vec![remount], is_action: false });
        steps.extend(table);
    } else if let Some(mut table) = table {
        table.changes.insert(0, remount);
        steps.push(table);
    }
    Ok(steps)
}

/// Returns the step that edits the table.
async fn table(path: &str, desired: Option<&FileSystem>, cx: Context<'_>) -> Result<Option<Step>, Failure> {
    let file = Path::new(FSTAB);
    let (text, permissions) = match cx.host.inspect(file).await? {
        Some(entry) => (cx.host.read(file).await?, entry.permissions),
        None => (Vec::new(), 0o644),
    };
    let text =
        String::from_utf8(text).map_err(|_| Failure::failed(format!("`{FSTAB}` is not valid UTF-8 text")))?;
    let edited = edit(&text, path, desired);
    if edited.is_empty() && text.is_empty() {
        return Ok(None);
    }
    let file = FileToWrite::new(file.to_owned(), edited.into_bytes(), permissions);
    let mut step = step_of(file, cx.host, DiffDetail::Content).await?;
    // systemd generates a unit for each line, and unmounts what a unit with an old line has mounted.
    let has_systemd = cx.host.inspect(Path::new("/run/systemd/system")).await?.is_some();
    if let Some(step) = step.as_mut().filter(|_| has_systemd) {
        step.changes.push(HostChange::ReloadUnits);
    }
    Ok(step)
}

fn unmount(path: &str, current: Option<&Mounted>) -> Option<Step> {
    let difference = HostDifference::value(path, "mounted", Some(current?.source.clone()), None);
    Some(Step::new(difference, run(&["umount", "--", path])))
}

fn run(words: &[&str]) -> HostChange {
    HostChange::Run(Command::argv(words.iter().copied()))
}

/// The source and type of a bind mount are those of the file system below it.
fn is_bind(desired: &FileSystem) -> bool {
    desired.options.split(',').any(|option| matches!(option, "bind" | "rbind"))
}

fn is_same_type(desired: &str, current: &str) -> bool {
    let is_nfs = |fstype: &str| matches!(fstype, "nfs" | "nfs4");
    desired == current || desired == "auto" || (is_nfs(desired) && is_nfs(current))
}

/// Compares devices by what their links point to.
async fn is_same_source(desired: &str, current: &str, cx: Context<'_>) -> Result<bool, Failure> {
    const FOLDERS: &[(&str, &str)] = &[
        ("UUID=", "/dev/disk/by-uuid"),
        ("LABEL=", "/dev/disk/by-label"),
        ("PARTUUID=", "/dev/disk/by-partuuid"),
        ("PARTLABEL=", "/dev/disk/by-partlabel"),
        ("ID=", "/dev/disk/by-id"),
    ];
    let tagged = FOLDERS
        .iter()
        .find_map(|(tag, folder)| Some(format!("{folder}/{}", desired.strip_prefix(tag)?.trim_matches('"'))));
    let desired = tagged.as_deref().unwrap_or(desired);
    Ok(desired == current || resolve(desired, cx).await? == resolve(current, cx).await?)
}

async fn resolve(source: &str, cx: Context<'_>) -> Result<PathBuf, Failure> {
    let path = Path::new(source);
    if !path.starts_with("/dev") {
        return Ok(path.to_owned());
    }
    Ok(match cx.host.inspect_link(path).await?.map(|entry| entry.kind) {
        Some(FileKind::Link { target }) => {
            let joined = path.parent().unwrap_or(path).join(target);
            joined.components().fold(PathBuf::new(), |mut resolved, component| {
                if component == Component::ParentDir {
                    resolved.pop();
                } else {
                    resolved.push(component);
                }
                resolved
            })
        }
        _ => path.to_owned(),
    })
}

/// Compares the flags that the kernel reports in the form in which they are written.
fn flag_differences(path: &str, options: &str, current: &Mounted) -> Vec<HostDifference> {
    const FLAGS: &[(&str, &str)] =
        &[("ro", "rw"), ("nosuid", "suid"), ("nodev", "dev"), ("noexec", "exec"), ("noatime", "atime")];
    // These options imply others.
    let implies = |option: &str| matches!(option, "user" | "users" | "owner" | "group");
    if options.split(',').any(implies) {
        return Vec::new();
    }
    let differences = FLAGS.iter().filter_map(|(flag, opposite)| {
        let last = options.split(',').rev().find(|option| option == flag || option == opposite);
        let desired = last == Some(*flag);
        let is_set = current.options.iter().any(|option| option == flag);
        let text = |is_set: bool| Some(if is_set { *flag } else { *opposite }.to_owned());
        (desired != is_set).then(|| HostDifference::value(path, "options", text(is_set), text(desired)))
    });
    differences.collect()
}
