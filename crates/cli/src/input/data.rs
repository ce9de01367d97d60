//! The JSON or YAML document that expressions read as `$`.

use std::path::Path;

use stoker_diagnostics::{Diagnostic, Span, has_errors};
use stoker_helpers::yaql_value;
use stoker_yaml as yaml;
use stoker_yaql::Value;
use stoker_yaql::json::{self, InputStyle};
use stoker_yaql::value::Map;

use super::{Text, read_text};
use crate::exit::{Exit, Failure, Outcome};

/// A parsed document and its non-fatal diagnostics.
pub(crate) struct Data {
    pub(crate) value: Value,
    pub(crate) warnings: Vec<Diagnostic>,
}

/// Reads a document from a file or standard input; the file extension selects the format.
pub(crate) fn read_data(path: &Path) -> Outcome<Data> {
    let text = read_text(path)?;
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    match extension.to_ascii_lowercase().as_str() {
        "json" => from_json(&text),
        "yaml" | "yml" => from_yaml(&text),
        _ => detect_format(&text),
    }
}

/// Reads a document regardless of the file extension: JSON in files named `.yaml` is common.
pub(crate) fn read_any_data(path: &Path) -> Outcome<Data> {
    detect_format(&read_text(path)?)
}

/// Tries JSON first: it parses faster and has better error messages, although most JSON is valid YAML too.
fn detect_format(text: &Text) -> Outcome<Data> {
    let json_result = from_json(text);
    if json_result.is_ok() {
        return json_result;
    }
    let yaml_result = from_yaml(text);
    if yaml_result.is_err() && text.content.trim_start().starts_with(['{', '[']) {
        json_result
    } else {
        yaml_result
    }
}

fn from_json(text: &Text) -> Outcome<Data> {
    let value = json::parse(&text.content).map_err(|error| {
        // Report a premature end after the last token, not after trailing blank lines.
        let at = error.at.min(text.content.trim_end().len());
        let diagnostic = Diagnostic::error("json-syntax", error.message);
        Failure::new(Exit::Input, text.attach(diagnostic.at(Span::in_text(&text.content, at..at + 1))))
    })?;
    decode_tags(value, text)
}

fn from_yaml(text: &Text) -> Outcome<Data> {
    let loaded = yaml::load(&text.content, &LIMITS);
    let diagnostics: Vec<Diagnostic> =
        loaded.problems.into_iter().map(|problem| text.attach(problem)).collect();
    if has_errors(&diagnostics) {
        return Err(Failure { exit: Exit::Input, diagnostics });
    }
    if let Some(second) = loaded.documents.get(1) {
        let message = format!("expected one YAML document, found {}", loaded.documents.len());
        return Err(input_error(message, second.root.span, text));
    }
    let value = match loaded.documents.first() {
        Some(document) => {
            let without_code = |problem: Diagnostic| text.attach(problem.code(""));
            yaql_value(&document.root).map_err(|problem| Failure::new(Exit::Input, without_code(*problem)))?
        }
        None => Value::Null,
    };
    Ok(Data { warnings: diagnostics, ..decode_tags(value, text)? })
}

/// Limits of local files. Higher than the limits of the server, because local files are trusted input.
const LIMITS: yaml::LoadLimits =
    yaml::LoadLimits { size_bytes_max: 256 << 20, depth_max: 200, nodes_max: 20_000_000, problems_max: 50 };

fn decode_tags(value: Value, text: &Text) -> Outcome<Data> {
    let value = json::decode(value, InputStyle::Converted);
    let value = value.map_err(|error| Failure::input(format!("`{}`: {}", text.origin, error.message)))?;
    Ok(Data { value, warnings: Vec::new() })
}

/// Converts a result back to the immutable types of input: mutable lists and maps in results never equal literals.
pub(crate) fn as_input(value: &Value) -> Value {
    match value {
        Value::Tuple(items) | Value::List(items) => Value::tuple(items.iter().map(as_input).collect()),
        Value::FrozenDict(map) | Value::Dict(map) => {
            let mut builder = Map::builder();
            for (key, item) in map.iter() {
                // Keys of a map are hashable, so the insertion cannot fail.
                _ = builder.insert(key.clone(), as_input(item));
            }
            Value::frozen_dict(builder.build())
        }
        other => other.clone(),
    }
}

fn input_error(message: String, span: Span, text: &Text) -> Failure {
    Failure::new(Exit::Input, text.attach(Diagnostic::plain(message).at(span)))
}
