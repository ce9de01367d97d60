//! Parameters of a helper: names, types, defaults.

use std::sync::Arc;

use stoker_diagnostics::Diagnostic;
use stoker_yaml::{Node, Span};
use stoker_yaql::Value;
use stoker_yaql::eval::suggest::closest_name;
use stoker_yaql::json::{self, WriteOptions};
use stoker_yaql::library::{ParamType, Signature};

use crate::codes;
use crate::reader::Reader;
use crate::words::is_variable;

#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub(crate) name: Arc<str>,
    pub(crate) span: Span,
    /// Type in signature syntax.
    pub(crate) kind: String,
    pub(crate) default: Option<Value>,
}

/// Types of parameters. A trailing `?` also allows null.
pub(crate) const TYPES: &[&str] = &[
    "any", "bool", "datetime", "int", "integer", "iter", "map", "number", "regex", "seq", "set", "string",
    "timespan",
];

const KEYS: &[&str] = &["name", "type", "default"];

pub(crate) fn read_parameters(reader: &mut Reader<'_>, node: &Node) -> Vec<Parameter> {
    let Some(entries) = node.as_seq() else {
        reader.shape(node, "`parameters` must be a list");
        return Vec::new();
    };
    let mut parameters: Vec<Parameter> = Vec::new();
    for entry in entries {
        let Some(parameter) = read_parameter(reader, entry) else { continue };
        if let Some(first) = parameters.iter().find(|other| other.name == parameter.name) {
            let message = format!("duplicate parameter `{}`", parameter.name);
            let problem =
                Diagnostic::error(codes::PARAMETER, message).in_file(reader.file).at(parameter.span);
            let problem = problem.related(first.span, "first defined here");
            reader.push(problem);
            continue;
        }
        let lacks_default =
            parameters.last().is_some_and(|last| last.default.is_some()) && parameter.default.is_none();
        if lacks_default {
            let message = format!(
                "parameter `{}` needs a default, because the parameter before it has one",
                parameter.name
            );
            reader.push(Diagnostic::error(codes::PARAMETER, message).in_file(reader.file).at(parameter.span));
        }
        parameters.push(parameter);
    }
    parameters
}

fn read_parameter(reader: &mut Reader<'_>, entry: &Node) -> Option<Parameter> {
    if entry.as_map().is_none() {
        let name = read_name(reader, entry)?;
        return Some(Parameter { name, span: entry.span, kind: "any".to_owned(), default: None });
    }
    reader.check_keys(entry, KEYS);
    let Some(name_node) = entry.get("name") else {
        let span = entry.as_map().and_then(|entries| entries.first()).map_or(entry.span, |(key, _)| key.span);
        reader.push(Diagnostic::error(codes::MISSING_KEY, "`name` is missing").in_file(reader.file).at(span));
        return None;
    };
    let name = read_name(reader, name_node)?;
    let kind = match entry.get("type") {
        Some(node) => read_type(reader, node)?,
        None => "any".to_owned(),
    };
    let default = match entry.get("default") {
        Some(node) => Some(reader.value(node)?),
        None => None,
    };
    let kind = match (&default, entry.get("default")) {
        (Some(value), Some(node)) => with_default(reader, kind, value, node)?,
        _ => kind,
    };
    Some(Parameter { name, span: name_node.span, kind, default })
}

fn read_name(reader: &mut Reader<'_>, node: &Node) -> Option<Arc<str>> {
    let text = reader.text(node, "a parameter name")?;
    if is_variable(&text) {
        return Some(text.into());
    }
    let help = match text.strip_prefix('$') {
        Some(bare) if is_variable(bare) => format!("write `{bare}`; the body reads it as `{text}`"),
        _ => "a name consists of letters, digits and `_`, and does not start with a digit".to_owned(),
    };
    let message = format!("`{text}` is not a valid parameter name");
    reader.push(Diagnostic::error(codes::PARAMETER, message).in_file(reader.file).at(node.span).help(help));
    None
}

fn read_type(reader: &mut Reader<'_>, node: &Node) -> Option<String> {
    let text = node.as_str().unwrap_or_default();
    let bare = text.strip_suffix('?').unwrap_or(text);
    if TYPES.contains(&bare) {
        return Some(text.to_owned());
    }
    let help = match closest_name(bare, TYPES.iter().copied()) {
        Some(best) => format!("did you mean `{best}`?"),
        None => format!("expected one of {}; append `?` to allow null", TYPES.join(", ")),
    };
    let type_text =
        node.as_scalar().map_or_else(|| node.kind_name().to_owned(), |scalar| format!("`{scalar}`"));
    let message = format!("unknown type {type_text}");
    reader.push(Diagnostic::error(codes::PARAMETER, message).in_file(reader.file).at(node.span).help(help));
    None
}

/// Returns the type with the default considered: a null default makes the type nullable.
fn with_default(reader: &mut Reader<'_>, kind: String, value: &Value, node: &Node) -> Option<String> {
    if value.is_null() {
        return Some(if kind == "any" || kind.ends_with('?') { kind } else { format!("{kind}?") });
    }
    if accepts(&kind, value) {
        return Some(kind);
    }
    let message = format!("the default must be of type `{kind}`, got {}", node.kind_name());
    reader.push(Diagnostic::error(codes::PARAMETER, message).in_file(reader.file).at(node.span));
    None
}

fn accepts(kind: &str, value: &Value) -> bool {
    let signature = Signature::parse(&format!("f f(x: {kind})"));
    let kind = signature.ok().and_then(|signature| signature.params.first().map(|param| param.kind));
    kind.is_some_and(|kind: ParamType| kind.accepts(value.kind(), false))
}

impl Parameter {
    pub(crate) fn in_signature(&self) -> String {
        match &self.default {
            None => format!("{}: {}", self.name, self.kind),
            Some(value) => {
                let default = simple_default(value).unwrap_or_else(|| "none".to_owned());
                format!("{}: {} = {default}", self.name, self.kind)
            }
        }
    }

    /// Returns the default value as JSON, if the signature cannot represent it.
    pub(crate) fn default_outside_signature(&self) -> Option<String> {
        let value = self.default.as_ref().filter(|value| simple_default(value).is_none())?;
        json::write(value, &WriteOptions { ascii: false, ..WriteOptions::default() }).ok()
    }
}

/// Returns the default in signature syntax, if it can be represented.
fn simple_default(value: &Value) -> Option<String> {
    match value {
        Value::Null => Some("null".to_owned()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Int(number) => Some(number.to_string()),
        Value::Str(text)
            if text.chars().all(|letter| letter.is_alphanumeric() || "_-./ ".contains(letter)) =>
        {
            Some(format!("'{text}'"))
        }
        _ => None,
    }
}
