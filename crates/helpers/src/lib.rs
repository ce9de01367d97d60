//! Functions that users write for themselves, in YAML, with a body in the query language.
//!
//! [`load`] reads helper files and lays their functions over a library. It judges everything and reports all
//! [`Problem`]s at once, with their places; with an error among them there is no library, because an expression
//! that quietly means something else is worse than none. The format is described in `docs/helpers.md`.
//!
//! The crate opens no file and draws no message.

mod check;
mod data;
mod definition;
mod examples;
mod parameter;
mod problem;
mod words;

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

use stoker_yaml::{Limits, Node, Span, place_in};
use stoker_yaql::Library;
use stoker_yaql::library::{ExpressionFunction, Function, Purity};

use check::Checked;
use definition::{Definition, Reader, Style};
use parameter::Parameter;
use problem::from_yaml;

pub use data::{DataError, value_of};
pub use problem::{Problem, Related, Severity, codes};

/// The name and the text of a helper file.
#[derive(Clone, Copy, Debug)]
pub struct HelperFile<'a> {
    pub name: &'a str,
    pub text: &'a str,
}

/// What helper files hold, and what is wrong with them.
#[derive(Debug)]
pub struct Loaded {
    /// The library with the helpers over it; none if there is an error.
    pub library: Option<Arc<Library>>,
    /// Every helper that could be understood, in the order of the files.
    pub helpers: Vec<Helper>,
    /// In the order of the files, and of their text.
    pub problems: Vec<Problem>,
}

impl Loaded {
    pub fn has_errors(&self) -> bool {
        self.problems.iter().any(|problem| problem.severity == Severity::Error)
    }
}

/// A helper and where it comes from.
#[derive(Clone, Debug)]
pub struct Helper {
    pub name: Arc<str>,
    /// The name of its file.
    pub file: String,
    /// Its body as the evaluator knows it.
    pub body: Arc<str>,
    node: Node,
}

impl Helper {
    /// Where a piece of the body stands in the file, whose text is needed again.
    pub fn place(&self, file_text: &str, piece: Range<usize>) -> Span {
        place_in(&self.node, file_text, piece)
    }
}

/// Reads helper files over a library.
pub fn load(files: &[HelperFile<'_>], base: &Arc<Library>) -> Loaded {
    let (mut definitions, mut problems) = (Vec::new(), Vec::new());
    for (file_idx, file) in files.iter().enumerate() {
        read_file(file, file_idx, &mut definitions, &mut problems);
    }
    let checked = check::check(files, &mut definitions, base, &mut problems);
    let library = layered(base, &definitions, &checked);
    check::check_calls(files, &definitions, &checked, &library, &mut problems);
    examples::check(files, &definitions, &checked, &library, &mut problems);
    let file_order = |problem: &Problem| files.iter().position(|file| file.name == problem.file);
    problems.sort_by_key(|problem| (file_order(problem), problem.span.start.offset));
    let helpers = definitions.iter().map(|definition| helper(files, definition)).collect();
    let has_errors = problems.iter().any(|problem| problem.severity == Severity::Error);
    Loaded { library: (!has_errors).then_some(library), helpers, problems }
}

fn read_file(
    file: &HelperFile<'_>,
    file_idx: usize,
    definitions: &mut Vec<Definition>,
    problems: &mut Vec<Problem>,
) {
    let loaded = stoker_yaml::load(file.text, &Limits::default());
    problems.extend(loaded.problems.into_iter().map(|problem| from_yaml(file.name, problem)));
    let mut reader = Reader { file: file.name, file_idx, problems: Vec::new() };
    match &loaded.documents[..] {
        [] if problems.iter().any(|problem| problem.file == file.name) => {}
        [] => {
            let message = "the file is empty; a helper file has the key `functions`";
            reader.push(Problem::warning(file.name, Span::default(), codes::MISSING_KEY, message));
        }
        [first, more @ ..] => {
            definitions.extend(reader.document(&first.root));
            for document in more {
                let message = "a helper file is one document, this is another";
                reader.push(Problem::error(file.name, document.root.span, codes::SHAPE, message));
            }
        }
    }
    problems.extend(reader.problems);
}

/// The library with all definitions over it, wrong ones too: whether anyone gets to see it is decided later.
fn layered(base: &Arc<Library>, definitions: &[Definition], checked: &Checked) -> Arc<Library> {
    let functions = definitions.iter().enumerate().map(|(definition_idx, definition)| {
        let purity = if checked.is_impure(definition_idx) { Purity::Impure } else { Purity::Pure };
        Arc::new(function(definition, purity)) as Arc<dyn Function>
    });
    let overridden: Vec<&str> =
        definitions.iter().filter(|found| found.overrides.is_some()).map(|found| &*found.name).collect();
    // Names and types were checked one by one, so every signature is one.
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

/// The text of the author, and the defaults that a signature cannot show.
fn documentation(definition: &Definition) -> String {
    let mut doc = definition.doc.clone();
    for parameter in &definition.parameters {
        if let Some(shown) = parameter.default_beside_signature() {
            let blank = if doc.is_empty() { "" } else { " " };
            _ = write!(doc, "{blank}`{}` is `{shown}` when it is not given.", parameter.name);
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
