//! User-defined functions in YAML files, with bodies in YAQL.
//!
//! [`load`] parses helper files and adds their functions to a library. It reports all diagnostics with their
//! positions. If any is an error, it returns no library, because an expression evaluated with a partial
//! library could silently have a different meaning. The file format is described in `docs/helpers.md`.
//!
//! The crate does no I/O and no rendering.

mod check;
mod data;
mod definition;
mod examples;
mod parameter;
mod reader;
mod words;

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

use stoker_diagnostics::{Diagnostic, has_errors, sort};
use stoker_yaml::{LoadLimits, Node, Span, locate_in_scalar};
use stoker_yaql::Library;
use stoker_yaql::library::{ExpressionFunction, Function, Purity};

use check::Analysis;
use definition::{Definition, Style};
use parameter::Parameter;
use reader::Reader;

pub use data::yaql_value;

/// Stable problem codes. Codes of YAML problems are in [`stoker_yaml::codes`].
pub mod codes {
    /// Value of the wrong type, for example text instead of a list.
    pub const SHAPE: &str = "helper-shape";
    /// Unknown key.
    pub const UNKNOWN_KEY: &str = "helper-unknown-key";
    /// Missing required key.
    pub const MISSING_KEY: &str = "helper-missing-key";
    /// Invalid function name.
    pub const NAME: &str = "helper-name";
    /// Function defined more than once.
    pub const DUPLICATE: &str = "helper-duplicate";
    /// Conflict with a library function, or invalid use of `override`.
    pub const OVERRIDE: &str = "helper-override";
    /// Invalid parameter.
    pub const PARAMETER: &str = "helper-parameter";
    /// Body that does not parse.
    pub const BODY: &str = "helper-body";
    /// Call of an unknown function.
    pub const UNKNOWN_FUNCTION: &str = "helper-unknown-function";
    /// Unbound variable or unused parameter (a warning).
    pub const VARIABLE: &str = "helper-variable";
    /// Comparison of states that never finds a difference.
    pub const STATE: &str = "helper-state";
    /// Example with an unexpected result.
    pub const EXAMPLE: &str = "helper-example";
}

#[derive(Clone, Copy, Debug)]
pub struct HelperFile<'a> {
    pub name: &'a str,
    pub text: &'a str,
}

/// Result of [`load`].
#[derive(Debug)]
pub struct LoadedHelpers {
    /// The base library with the helpers added; `None` if there are errors.
    pub library: Option<Arc<Library>>,
    /// All helpers that could be parsed, in file order.
    pub helpers: Vec<Helper>,
    /// Problems in the order of files and positions.
    pub problems: Vec<Diagnostic>,
}

impl LoadedHelpers {
    pub fn has_errors(&self) -> bool {
        has_errors(&self.problems)
    }
}

/// A helper and the file that defines it.
#[derive(Clone, Debug)]
pub struct Helper {
    pub name: Arc<str>,
    /// Name of the file.
    pub file: String,
    /// Source text of the body.
    pub body: Arc<str>,
    node: Node,
}

impl Helper {
    /// Converts a byte range of the body to a span of the file.
    pub fn span_of(&self, file_text: &str, range: Range<usize>) -> Span {
        locate_in_scalar(&self.node, file_text, range)
    }
}

/// Parses helper files and adds them to a library.
pub fn load(files: &[HelperFile<'_>], base: &Arc<Library>) -> LoadedHelpers {
    let (mut definitions, mut problems) = (Vec::new(), Vec::new());
    for (file_idx, file) in files.iter().enumerate() {
        read_file(file, file_idx, &mut definitions, &mut problems);
    }
    let analysis = check::check(files, &mut definitions, base, &mut problems);
    let library = add_layer(base, &definitions, &analysis);
    check::check_calls(files, &definitions, &analysis, &library, &mut problems);
    examples::check(files, &definitions, &analysis, &library, &mut problems);
    sort(&mut problems);
    let helpers = definitions.iter().map(|definition| helper(files, definition)).collect();
    LoadedHelpers { library: (!has_errors(&problems)).then_some(library), helpers, problems }
}

fn read_file(
    file: &HelperFile<'_>,
    file_idx: usize,
    definitions: &mut Vec<Definition>,
    problems: &mut Vec<Diagnostic>,
) {
    let loaded = stoker_yaml::load(file.text, &LoadLimits::default());
    problems.extend(loaded.problems.into_iter().map(|problem| problem.in_file(file.name)));
    let mut reader = Reader { file: file.name, file_idx, problems: Vec::new() };
    match &loaded.documents[..] {
        [] if problems.iter().any(|problem| problem.location.file.as_deref() == Some(file.name)) => {}
        [] => {
            let message = "the file is empty; expected the key `functions`";
            reader.push(
                Diagnostic::warning(codes::MISSING_KEY, message).in_file(file.name).at(Span::default()),
            );
        }
        [first, more @ ..] => {
            definitions.extend(reader.document(&first.root));
            for document in more {
                let message = "a helper file must have a single YAML document";
                reader
                    .push(Diagnostic::error(codes::SHAPE, message).in_file(file.name).at(document.root.span));
            }
        }
    }
    problems.extend(reader.problems);
}

/// Adds all definitions to the library, including invalid ones; the caller discards it if there are errors.
fn add_layer(base: &Arc<Library>, definitions: &[Definition], analysis: &Analysis) -> Arc<Library> {
    let functions = definitions.iter().enumerate().map(|(definition_idx, definition)| {
        let purity = if analysis.is_impure(definition_idx) { Purity::Impure } else { Purity::Pure };
        Arc::new(function(definition, purity)) as Arc<dyn Function>
    });
    let overridden: Vec<&str> = definitions
        .iter()
        .filter(|definition| definition.overrides.is_some())
        .map(|definition| &*definition.name)
        .collect();
    // Cannot fail: names and types were validated, so every signature parses.
    base.with_layer(functions, &overridden).map_or_else(|_| base.clone(), Arc::new)
}

fn function(definition: &Definition, purity: Purity) -> ExpressionFunction {
    let style = match definition.style {
        Style::Function => "f",
        Style::Method => "m",
        Style::Both => "fm",
    };
    let parameters: Vec<String> = definition.parameters.iter().map(Parameter::in_signature).collect();
    ExpressionFunction {
        signature: format!("{style} {}({})", definition.name, parameters.join(", ")),
        params: definition.parameters.iter().map(|parameter| parameter.name.clone()).collect(),
        defaults: definition.parameters.iter().map(|parameter| parameter.default.clone()).collect(),
        doc: documentation(definition),
        examples: definition.examples.iter().filter_map(definition::Example::in_documentation).collect(),
        body: body_text(definition),
        purity,
    }
}

/// Returns the documentation text, with defaults that a signature cannot represent.
fn documentation(definition: &Definition) -> String {
    let mut doc = definition.doc.clone();
    for parameter in &definition.parameters {
        if let Some(default) = parameter.default_outside_signature() {
            let blank = if doc.is_empty() { "" } else { " " };
            _ = write!(doc, "{blank}`{}` defaults to `{default}`.", parameter.name);
        }
    }
    doc
}

fn helper(files: &[HelperFile<'_>], definition: &Definition) -> Helper {
    Helper {
        name: definition.name.clone(),
        file: files[definition.file_idx].name.to_owned(),
        body: body_text(definition),
        node: definition.body.clone(),
    }
}

fn body_text(definition: &Definition) -> Arc<str> {
    definition.body.as_str().unwrap_or_default().into()
}
