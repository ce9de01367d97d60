//! Helper files: one file, or all in a directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use stoker_helpers::{Helper, HelperFile, Problem, Severity as HelperSeverity, load};
use stoker_yaql::{Library, Span};

use super::{Text, read_text};
use crate::diagnostic::{Diagnostic, Severity, SourceLocation};
use crate::exit::{Exit, Failure, Outcome};
use crate::printer::Printer;

/// A library extended with helper functions, and the sources that diagnostics point into.
pub(crate) struct Helpers {
    pub(crate) library: Arc<Library>,
    pub(crate) warnings: Vec<Diagnostic>,
    functions: Vec<Helper>,
    texts: Vec<Text>,
}

impl Helpers {
    /// Maps a span of a helper body to its location in the helper file, with the name of the helper.
    pub(crate) fn locate(&self, body: &str, span: Span) -> Option<(SourceLocation, &str)> {
        let helper = self.functions.iter().find(|helper| &*helper.body == body)?;
        let text = self.texts.iter().find(|text| text.origin == helper.file)?;
        let span = helper.span_of(&text.content, span.start as usize..span.end as usize);
        let range = span.start.offset as usize..span.end.offset as usize;
        Some((SourceLocation::new(&text.origin, text.content.clone(), range), &helper.name))
    }

    /// Returns the name of the helper with this body.
    pub(crate) fn name(&self, body: &str) -> Option<&str> {
        self.functions.iter().find(|helper| &*helper.body == body).map(|helper| &*helper.name)
    }
}

/// Reads one file, or every `*.yaml` and `*.yml` in a directory in the order of their names.
pub(crate) fn read_helpers(path: &Path, base: &Arc<Library>) -> Outcome<Helpers> {
    let paths = helper_paths(path)
        .map_err(|error| Failure::input(format!("cannot read `{}`: {error}", path.display())))?;
    let texts = paths.iter().map(|path| read_text(path)).collect::<Outcome<Vec<Text>>>()?;
    let files: Vec<HelperFile<'_>> =
        texts.iter().map(|text| HelperFile { name: &text.origin, text: &text.content }).collect();
    let loaded = load(&files, base);
    let mut diagnostics: Vec<Diagnostic> =
        loaded.problems.iter().map(|problem| diagnostic(problem, &texts)).collect();
    let Some(library) = loaded.library else { return Err(Failure { exit: Exit::Input, diagnostics }) };
    if texts.is_empty() {
        let message = format!("no `*.yaml` or `*.yml` files in `{}`", path.display());
        diagnostics.push(Diagnostic { severity: Severity::Warning, ..Diagnostic::error(message) });
    }
    Ok(Helpers { library, warnings: diagnostics, functions: loaded.helpers, texts })
}

/// Extends the library of task expressions with helpers from a directory or file; prints warnings.
pub(crate) fn read_library(path: &Path, printer: &mut Printer) -> Outcome<Arc<Library>> {
    let helpers = read_helpers(path, &stoker_planner::library())?;
    helpers.warnings.iter().for_each(|warning| printer.diagnostic(warning));
    Ok(helpers.library)
}

fn helper_paths(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !fs::metadata(path)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut paths = Vec::new();
    for entry in fs::read_dir(path)? {
        let path = entry?.path();
        let is_yaml = path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml");
        if is_yaml && path.is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

fn diagnostic(problem: &Problem, texts: &[Text]) -> Diagnostic {
    let severity = match problem.severity {
        HelperSeverity::Error => Severity::Error,
        HelperSeverity::Warning => Severity::Warning,
    };
    let content = texts.iter().find(|text| text.origin == problem.file).map(|text| text.content.clone());
    let range = |span: stoker_yaml::Span| span.start.offset as usize..span.end.offset as usize;
    let mut location = SourceLocation::new(&problem.file, content.unwrap_or_default(), range(problem.span));
    let mut notes = Vec::new();
    if let Some(related) = &problem.related {
        if related.file == problem.file {
            location.related = Some((range(related.span), related.label.to_owned()));
        } else {
            notes.push(format!("{}: {}:{}", related.label, related.file, related.span.start));
        }
    }
    let diagnostic = Diagnostic { severity, notes, ..Diagnostic::error(&problem.message) };
    diagnostic.code(problem.code).at(location).help(problem.help.clone())
}
