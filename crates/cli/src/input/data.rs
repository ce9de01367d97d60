//! The document that expressions read as `$`: JSON or YAML.

use std::path::Path;

use stoker_helpers::value_of;
use stoker_yaml as yaml;
use stoker_yaql::Value;
use stoker_yaql::json::{self, InputStyle};
use stoker_yaql::value::Map;

use super::{Text, read_text};
use crate::diagnostic::{Diagnostic, Place, Severity};
use crate::exit::{Exit, Failure, Outcome};

/// Data and remarks about it that do not make it unusable.
pub(crate) struct Data {
    pub(crate) value: Value,
    pub(crate) warnings: Vec<Diagnostic>,
}

/// Reads a document from a file or from standard input.
pub(crate) fn read_data(path: &Path) -> Outcome<Data> {
    let text = read_text(path)?;
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    match extension.to_ascii_lowercase().as_str() {
        "json" => from_json(&text),
        "yaml" | "yml" => from_yaml(&text),
        _ => guess(&text),
    }
}

/// Reads a document whatever its file is called: people put JSON into files that end in `.yaml`.
pub(crate) fn read_any_data(path: &Path) -> Outcome<Data> {
    guess(&read_text(path)?)
}

/// All JSON that people write is YAML too, but JSON is read faster and its mistakes are explained better.
fn guess(text: &Text) -> Outcome<Data> {
    let as_json = from_json(text);
    if as_json.is_ok() {
        return as_json;
    }
    let as_yaml = from_yaml(text);
    if as_yaml.is_err() && text.content.trim_start().starts_with(['{', '[']) { as_json } else { as_yaml }
}

fn from_json(text: &Text) -> Outcome<Data> {
    let value = json::parse(&text.content).map_err(|error| {
        // What is missing at the end is missing after the last word, not after the blank lines.
        let at = error.at.min(text.content.trim_end().len());
        let place = Place::new(&text.origin, text.content.clone(), at..at + 1);
        Failure::new(Exit::Input, Diagnostic::error(error.message).code("json-syntax").at(place))
    })?;
    tagged(value, text)
}

fn from_yaml(text: &Text) -> Outcome<Data> {
    let loaded = yaml::load(&text.content, &LIMITS);
    let diagnostics: Vec<Diagnostic> =
        loaded.problems.iter().map(|problem| yaml_diagnostic(problem, text)).collect();
    if loaded.has_errors() {
        return Err(Failure { exit: Exit::Input, diagnostics });
    }
    if let Some(second) = loaded.documents.get(1) {
        let message = format!("there are {} documents here, one is expected", loaded.documents.len());
        return Err(refuse(message, second.root.span, text));
    }
    let value = match loaded.documents.first() {
        Some(document) => {
            value_of(&document.root).map_err(|error| refuse(error.message, error.span, text))?
        }
        None => Value::Null,
    };
    Ok(Data { warnings: diagnostics, ..tagged(value, text)? })
}

/// A file that a person names may be larger than what a server takes from strangers.
const LIMITS: yaml::Limits =
    yaml::Limits { size_bytes_max: 256 << 20, depth_max: 200, nodes_max: 20_000_000, problems_max: 50 };

fn tagged(value: Value, text: &Text) -> Outcome<Data> {
    let value = json::decode(value, InputStyle::Converted);
    let value = value.map_err(|error| Failure::input(format!("`{}`: {}", text.origin, error.message)))?;
    Ok(Data { value, warnings: Vec::new() })
}

/// A result as it has to be to become input again: results hold lists and maps of the kind that can be changed,
/// which equal no literal.
pub(crate) fn as_input(value: &Value) -> Value {
    match value {
        Value::Tuple(items) | Value::List(items) => Value::tuple(items.iter().map(as_input).collect()),
        Value::FrozenDict(map) | Value::Dict(map) => {
            let mut builder = Map::builder();
            for (key, item) in map.iter() {
                // A key of a map is hashable, so it can be one again.
                _ = builder.insert(key.clone(), as_input(item));
            }
            Value::frozen_dict(builder.build())
        }
        other => other.clone(),
    }
}

fn refuse(message: String, span: yaml::Span, text: &Text) -> Failure {
    let place = Place::new(&text.origin, text.content.clone(), byte_range(span));
    Failure::new(Exit::Input, Diagnostic::error(message).at(place))
}

fn yaml_diagnostic(problem: &yaml::Problem, text: &Text) -> Diagnostic {
    let mut place = Place::new(&text.origin, text.content.clone(), byte_range(problem.span));
    place.related = problem.related.map(|(span, label)| (byte_range(span), label.to_owned()));
    let severity = match problem.severity {
        yaml::Severity::Error => Severity::Error,
        yaml::Severity::Warning => Severity::Warning,
    };
    let diagnostic = Diagnostic { severity, ..Diagnostic::error(&problem.message) };
    diagnostic.code(problem.code).at(place).help(problem.help.clone())
}

fn byte_range(span: yaml::Span) -> std::ops::Range<usize> {
    span.start.offset as usize..span.end.offset as usize
}
