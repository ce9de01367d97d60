//! Check of `repository`.

use std::path::PathBuf;

use stoker_model::HostDifference;

use super::spec::{PackageSource, Spec};
use crate::context::Context;
use crate::host::{FileToWrite, HostChange, HostFuture};
use crate::outcome::Failure;
use crate::resource::Step;
use crate::types::files::{DiffDetail, step_of};
use crate::types::package::manager::PackageManager;
use crate::values::Values;

pub(super) fn check<'a>(values: &'a Values, cx: Context<'a>) -> HostFuture<'a, Result<Vec<Step>, Failure>> {
    Box::pin(async move {
        let spec = Spec::read(values)?;
        let manager = PackageManager::find(cx).await?;
        let (folder, keys, suffix) = match manager {
            PackageManager::Apt => ("/etc/apt/sources.list.d", "/etc/apt/keyrings", "sources"),
            PackageManager::Dnf => ("/etc/yum.repos.d", "/etc/pki/rpm-gpg", "repo"),
        };
        let file = PathBuf::from(format!("{folder}/{}.{suffix}", spec.name));
        let key = PathBuf::from(format!("{keys}/{}.asc", spec.name));
        let Some(source) = spec.source else {
            let mut steps = Vec::new();
            // The source first: without its key apt reports an error.
            for path in [file, key] {
                steps.extend(removal(path, cx).await?);
            }
            return Ok(steps);
        };
        let mut steps = Vec::new();
        if let Some(text) = &source.key {
            let data = format!("{}\n", text.trim_end()).into_bytes();
            let file = FileToWrite { parents: Some(0o755), ..FileToWrite::new(key.clone(), data, 0o644) };
            steps.extend(step_of(file, cx.host, DiffDetail::Digest).await?);
        }
        let signed_by = source.key.as_ref().map(|_| key.display().to_string());
        let signed_by = signed_by.or_else(|| source.signed_by.clone());
        let text = match manager {
            PackageManager::Apt => deb822(&source, signed_by.as_deref())?,
            PackageManager::Dnf => yum(&spec.name, &source, signed_by.as_deref()),
        };
        let data = text.clone().into_bytes();
        let file = FileToWrite { parents: Some(0o755), ..FileToWrite::new(file, data, 0o644) };
        let mut step = step_of(file, cx.host, DiffDetail::Content).await?;
        // The lists before the file: an interruption in between leaves a difference, and a wrong source is never enabled.
        let downloads = manager == PackageManager::Apt && source.updates_lists && source.is_enabled;
        if let Some(step) = step.as_mut().filter(|_| downloads) {
            step.changes.insert(0, HostChange::Run(PackageManager::update_lists_of(text)));
        }
        steps.extend(step);
        Ok(steps)
    })
}

async fn removal(path: PathBuf, cx: Context<'_>) -> Result<Option<Step>, Failure> {
    if cx.host.inspect_link(&path).await?.is_none() {
        return Ok(None);
    }
    let subject = path.display().to_string();
    let difference = HostDifference::value(subject, "state", Some("present".to_owned()), None);
    Ok(Some(Step::new(difference, HostChange::Remove(path))))
}

/// The format of `sources.list(5)`.
fn deb822(source: &PackageSource, signed_by: Option<&str>) -> Result<String, Failure> {
    if source.suites.is_empty() {
        return Err(Failure::failed("`suites` is required on a node with apt"));
    }
    let fields = [
        ("Enabled", if source.is_enabled { String::new() } else { "no".to_owned() }),
        ("Types", source.types.join(" ")),
        ("URIs", source.uris.join(" ")),
        ("Suites", source.suites.join(" ")),
        ("Components", source.components.join(" ")),
        ("Architectures", source.architectures.join(" ")),
        ("Signed-By", signed_by.unwrap_or_default().to_owned()),
        ("Trusted", if source.checks_signatures { String::new() } else { "yes".to_owned() }),
    ];
    let set = fields.iter().filter(|(_, value)| !value.is_empty());
    Ok(lines(set, ": "))
}

fn yum(name: &str, source: &PackageSource, signed_by: Option<&str>) -> String {
    let number = |flag: bool| u8::from(flag).to_string();
    let key =
        signed_by.map(|key| if key.starts_with('/') { format!("file://{key}") } else { key.to_owned() });
    let fields = [
        ("name", name.to_owned()),
        ("baseurl", source.uris.join(" ")),
        ("enabled", number(source.is_enabled)),
        ("gpgcheck", number(source.checks_signatures)),
        ("gpgkey", key.unwrap_or_default()),
    ];
    let set = fields.iter().filter(|(_, value)| !value.is_empty());
    format!("[{name}]\n{}", lines(set, "="))
}

/// A line for each field that is set.
fn lines<'f>(fields: impl Iterator<Item = &'f (&'f str, String)>, separator: &str) -> String {
    let lines: Vec<String> = fields.map(|(field, value)| [field, separator, value].concat()).collect();
    lines.join("\n") + "\n"
}
