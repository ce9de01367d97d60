//! Plugin packages as commands meet them: a folder or an archive, and what is wrong with it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use stoker_manifest::Severity as Judgement;
use stoker_model::Json;
use stoker_packages::{CheckedFolder, Limits, Unpacked, check_folder, unpack};
use stoker_registry::package::{CheckOptions, Package, PackageProblem};
use tempfile::TempDir;

use crate::diagnostic::{Diagnostic, Place, Severity};
use crate::exit::{Exit, Failure, Outcome};

/// A package that can be looked at.
pub(crate) struct Opened {
    /// As it was named.
    pub(crate) origin: PathBuf,
    folder: PathBuf,
    /// An archive lies in a folder that goes away with these.
    _unpacked: Option<(Unpacked, TempDir)>,
}

/// Opens a folder, or unpacks an archive.
pub(crate) fn open(path: &Path) -> Outcome<Opened> {
    let shown = path.display();
    let metadata =
        fs::metadata(path).map_err(|error| Failure::input(format!("cannot read `{shown}`: {error}")))?;
    if metadata.is_dir() {
        return Ok(Opened { origin: path.to_owned(), folder: path.to_owned(), _unpacked: None });
    }
    let unpacked = || -> Result<Opened, String> {
        let temporary = tempfile::tempdir().map_err(|error| error.to_string())?;
        let file = File::open(path).map_err(|error| error.to_string())?;
        let unpacked =
            unpack(file, temporary.path(), &Limits::default()).map_err(|error| error.to_string())?;
        let folder = unpacked.folder().to_owned();
        Ok(Opened { origin: path.to_owned(), folder, _unpacked: Some((unpacked, temporary)) })
    };
    unpacked().map_err(|error| Failure::input(format!("`{shown}`: {error}")))
}

impl Opened {
    pub(crate) fn check(&self) -> Outcome<CheckedFolder> {
        check_folder(&self.folder, CheckOptions::default()).map_err(|error| Failure::input(error.to_string()))
    }

    /// The package, or everything that is wrong with it.
    pub(crate) fn package(&self) -> Outcome<Package> {
        let found = self.check()?;
        let diagnostics = diagnostics(&self.origin, &found);
        let exit = Exit::Failed;
        found.checked.package.ok_or(Failure { exit, diagnostics })
    }
}

/// Problems as they are shown, with the text they are about.
pub(crate) fn diagnostics(origin: &Path, found: &CheckedFolder) -> Vec<Diagnostic> {
    found.checked.problems.iter().map(|problem| diagnostic(origin, found, problem)).collect()
}

fn diagnostic(origin: &Path, found: &CheckedFolder, problem: &PackageProblem) -> Diagnostic {
    let severity = match problem.severity {
        Judgement::Error => Severity::Error,
        Judgement::Warning => Severity::Warning,
    };
    let file = origin.join(&problem.file).display().to_string();
    let place = problem.span.zip(found.tree.texts.get(&problem.file)).map(|(span, text)| {
        Place::new(&file, text.as_str(), span.start.offset as usize..span.end.offset as usize)
    });
    let at = if problem.path.is_empty() { String::new() } else { format!("{}: ", problem.path) };
    let message = match &place {
        Some(_) => format!("{at}{}", problem.message),
        None => format!("`{file}`: {at}{}", problem.message),
    };
    Diagnostic { severity, place, ..Diagnostic::error(message) }.code(problem.code).help(problem.help.clone())
}

/// A problem for programs.
pub(crate) fn problem_json(problem: &PackageProblem) -> Json {
    let severity = match problem.severity {
        Judgement::Error => "error",
        Judgement::Warning => "warning",
    };
    let place = problem.span.map(|span| span.start);
    let fields = [
        ("file", Json::from(&*problem.file)),
        ("path", steps(&problem.path)),
        ("line", place.map(|place| place.line).into()),
        ("column", place.map(|place| place.column).into()),
        ("code", Json::from(problem.code)),
        ("severity", Json::from(severity)),
        ("message", Json::from(&*problem.message)),
        ("help", problem.help.clone().into()),
    ];
    fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// `releases[0].os` as keys and indexes; odd keys stand in brackets as `["a b"]`.
fn steps(path: &str) -> Json {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        let (step, after) = if let Some(inner) = rest.strip_prefix('[') {
            let quoted = inner.starts_with('"').then(|| {
                let mut values = serde_json::Deserializer::from_str(inner).into_iter::<String>();
                let text = values.next()?.ok()?;
                Some((Json::from(text), values.byte_offset()))
            });
            let end = inner.find(']').unwrap_or(inner.len());
            let plain =
                || (inner[..end].parse::<u64>().map_or_else(|_| Json::from(&inner[..end]), Json::from), end);
            let (step, end) = quoted.flatten().unwrap_or_else(plain);
            (step, inner[end..].strip_prefix(']').unwrap_or_default())
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            (Json::from(&rest[..end]), &rest[end..])
        };
        steps.push(step);
        rest = after.strip_prefix('.').unwrap_or(after);
    }
    Json::Array(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_keys_and_indexes() {
        assert_eq!(steps("releases[0].os").to_string(), r#"["releases",0,"os"]"#);
        assert_eq!(steps("[12].stage").to_string(), r#"[12,"stage"]"#);
        assert_eq!(steps("").to_string(), "[]");
        assert_eq!(steps("a[\"r b].\\\"\"].c[1][2]").to_string(), r#"["a","r b].\"","c",1,2]"#);
        for odd in ["[", "[\"", "]", ".", "[x", "a[", "a..b"] {
            assert!(steps(odd).is_array(), "{odd}");
        }
    }
}
