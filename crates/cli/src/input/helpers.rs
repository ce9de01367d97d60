//! Helper files: one file, or all in a directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use stoker_diagnostics::{Diagnostic, Severity, sort};
use stoker_graph::constant_comparisons;
use stoker_helpers::{Helper, HelperFile, LoadedHelpers, codes, load};
use stoker_yaql::syntax::{Grammar, parse};
use stoker_yaql::{Library, Span};

use super::{Text, read_text};
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
    /// Attaches the location in the helper file to a diagnostic about a span of a helper body; returns the name of the
    /// helper too.
    pub(crate) fn locate(
        &self,
        body: &str,
        span: Span,
        diagnostic: &Diagnostic,
    ) -> Option<(Diagnostic, &str)> {
        let helper = self.functions.iter().find(|helper| &*helper.body == body)?;
        let text = self.texts.iter().find(|text| text.origin == helper.file)?;
        let span = helper.span_of(&text.content, span.start as usize..span.end as usize);
        Some((text.attach(diagnostic.clone().at(span)), &helper.name))
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
    let mut loaded = load(&files, base);
    let comparisons = constant_comparisons_of(&loaded, &texts);
    if !comparisons.is_empty() {
        loaded.library = None;
        loaded.problems.extend(comparisons);
        sort(&mut loaded.problems);
    }
    let mut diagnostics: Vec<Diagnostic> =
        loaded.problems.into_iter().map(|problem| attach(problem, &texts)).collect();
    let Some(library) = loaded.library else { return Err(Failure { exit: Exit::Input, diagnostics }) };
    if texts.is_empty() {
        let message = format!("no `*.yaml` or `*.yml` files in `{}`", path.display());
        diagnostics.push(Diagnostic::plain(message).severity(Severity::Warning));
    }
    Ok(Helpers { library, warnings: diagnostics, functions: loaded.helpers, texts })
}

/// Extends the library of task expressions with helpers from a directory or file; prints warnings.
pub(crate) fn read_library(path: &Path, printer: &mut Printer) -> Outcome<Arc<Library>> {
    let helpers = read_helpers(path, &stoker_planner::library())?;
    helpers.warnings.iter().for_each(|warning| printer.diagnostic(warning));
    Ok(helpers.library)
}

/// Errors for helpers that compare values that are not paths of the state, such as `changed($document.x)`: the condition
/// that calls them would silently be false.
fn constant_comparisons_of(loaded: &LoadedHelpers, texts: &[Text]) -> Vec<Diagnostic> {
    let Some(library) = &loaded.library else { return Vec::new() };
    let of_helper = |helper: &Helper| {
        let text = texts.iter().find(|text| text.origin == helper.file)?;
        let tree = parse(&helper.body, Grammar::default()).ok()?;
        let diagnostic = |comparison: Diagnostic| {
            let range = comparison.location.span.unwrap_or_default().bytes();
            let comparison = comparison.severity(Severity::Error).code(codes::STATE);
            comparison.in_file(&helper.file).at(helper.span_of(&text.content, range))
        };
        Some(constant_comparisons(&tree, library).into_iter().map(diagnostic).collect::<Vec<_>>())
    };
    loaded.helpers.iter().filter_map(of_helper).flatten().collect()
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

/// Shows a diagnostic with an excerpt of its file.
fn attach(problem: Diagnostic, texts: &[Text]) -> Diagnostic {
    match texts.iter().find(|text| Some(&text.origin) == problem.location.file.as_ref()) {
        Some(text) => text.attach(problem),
        None => problem,
    }
}
