//! Plugin packages for commands: opens a directory or an archive and renders the problems of its check.

use std::error::Error;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use stoker_diagnostics::Diagnostic;
use stoker_model::{ErrorChain, Json};
use stoker_packages::{ArchiveLimits, CheckedFolder, UnpackedPackage, check_folder, unpack};
use stoker_registry::package::{Package, PackageCheckOptions};
use tempfile::TempDir;

use crate::exit::{Exit, Failure, Outcome};

/// A package directory that can be checked.
pub(crate) struct PackageFolder {
    /// Path from the command line, used in messages.
    pub(crate) origin: PathBuf,
    folder: PathBuf,
    /// Temporary directory of an unpacked archive; deleted on drop.
    _unpacked: Option<(UnpackedPackage, TempDir)>,
}

/// Opens a package directory, or unpacks an archive into a temporary directory.
pub(crate) fn open(path: &Path) -> Outcome<PackageFolder> {
    let name = path.display();
    let metadata =
        fs::metadata(path).map_err(|error| Failure::input(format!("cannot read `{name}`: {error}")))?;
    if metadata.is_dir() {
        return Ok(PackageFolder { origin: path.to_owned(), folder: path.to_owned(), _unpacked: None });
    }
    let unpacked = || -> Result<PackageFolder, Box<dyn Error>> {
        let temporary = tempfile::tempdir()?;
        let unpacked = unpack(File::open(path)?, temporary.path(), &ArchiveLimits::default())?;
        let folder = unpacked.folder().to_owned();
        Ok(PackageFolder { origin: path.to_owned(), folder, _unpacked: Some((unpacked, temporary)) })
    };
    unpacked().map_err(|error| Failure::input(format!("`{name}`: {}", ErrorChain(&*error))))
}

impl PackageFolder {
    pub(crate) fn check(&self) -> Outcome<CheckedFolder> {
        check_folder(&self.folder, PackageCheckOptions::default())
            .map_err(|error| Failure::input(ErrorChain(&error).to_string()))
    }

    /// Returns the package if it has no errors, otherwise all problems.
    pub(crate) fn package(&self) -> Outcome<Package> {
        let folder = self.check()?;
        let diagnostics = diagnostics(&self.origin, &folder);
        let exit = Exit::Failed;
        folder.result.package.ok_or(Failure { exit, diagnostics })
    }
}

/// Returns all problems with source excerpts.
pub(crate) fn diagnostics(origin: &Path, checked: &CheckedFolder) -> Vec<Diagnostic> {
    checked.result.problems.iter().map(|problem| diagnostic(origin, checked, problem)).collect()
}

fn diagnostic(origin: &Path, checked: &CheckedFolder, problem: &Diagnostic) -> Diagnostic {
    let name = problem.location.file.as_deref().unwrap_or_default();
    let file = origin.join(name).display().to_string();
    match checked.tree.texts.get(name) {
        Some(text) => problem.clone().in_source(file, text.as_str()),
        None => problem.clone().in_file(file),
    }
}

/// Returns a problem as JSON.
pub(crate) fn problem_json(problem: &Diagnostic) -> Json {
    let location = &problem.location;
    let fields = [
        ("file", location.file.clone().into()),
        ("path", path_segments(&location.path)),
        ("line", location.line().into()),
        ("column", location.column().into()),
        ("code", Json::from(&*problem.code)),
        ("severity", Json::from(problem.severity.as_str())),
        ("message", Json::from(&*problem.message)),
        ("help", problem.help.clone().into()),
    ];
    fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// Splits `releases[0].os` into keys and indexes; keys with special characters are quoted, as in `["a b"]`.
fn path_segments(path: &str) -> Json {
    let mut segments = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        let (segment, after) = if let Some(inner) = rest.strip_prefix('[') {
            let quoted = inner.starts_with('"').then(|| {
                let mut values = serde_json::Deserializer::from_str(inner).into_iter::<String>();
                let text = values.next()?.ok()?;
                Some((Json::from(text), values.byte_offset()))
            });
            let end = inner.find(']').unwrap_or(inner.len());
            let plain =
                || (inner[..end].parse::<u64>().map_or_else(|_| Json::from(&inner[..end]), Json::from), end);
            let (segment, end) = quoted.flatten().unwrap_or_else(plain);
            (segment, inner[end..].strip_prefix(']').unwrap_or_default())
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            (Json::from(&rest[..end]), &rest[end..])
        };
        segments.push(segment);
        rest = after.strip_prefix('.').unwrap_or(after);
    }
    Json::Array(segments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_split_into_keys_and_indexes() {
        assert_eq!(path_segments("releases[0].os").to_string(), r#"["releases",0,"os"]"#);
        assert_eq!(path_segments("[12].stage").to_string(), r#"[12,"stage"]"#);
        assert_eq!(path_segments("").to_string(), "[]");
        assert_eq!(path_segments("a[\"r b].\\\"\"].c[1][2]").to_string(), r#"["a","r b].\"","c",1,2]"#);
        for malformed in ["[", "[\"", "]", ".", "[x", "a[", "a..b"] {
            assert!(path_segments(malformed).is_array(), "{malformed}");
        }
    }
}
