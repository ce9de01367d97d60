//! The JSON-lines protocol: one response per request.
//!
//! A request is `{"expr": …, "data": …, "vars": {…}, "options": {…}, "id": …}`; only `expr` is required. The
//! response is `{"ok": value}` or `{"err": class, "msg": text}`, plus the `id` of the request. See
//! [`crate::json`] for the encoding of values that JSON cannot represent.

use std::collections::HashMap;
use std::sync::Arc;

use crate::error::{Error, ErrorClass, Result};
use crate::eval::{Engine, Host, Input, Limits, Options};
use crate::json::{InputStyle, WriteOptions, decode, parse, write, write_after};
use crate::stdlib::Legacy;
use crate::syntax::VarName;
use crate::value::{Map, Value};

/// Maximum size of the value in a response, in bytes.
const ANSWER_BYTES_MAX: usize = 256 << 20;

/// Responds to requests and caches one engine per dialect.
pub struct Responder<'h> {
    host: &'h dyn Host,
    limits: Limits,
    engines: HashMap<(bool, Legacy), Engine>,
}

impl<'h> Responder<'h> {
    pub fn new(host: &'h dyn Host, limits: Limits) -> Self {
        Self { host, limits, engines: HashMap::new() }
    }

    /// Returns the response to one request line, without a trailing newline.
    pub fn respond(&mut self, line: &str) -> String {
        let request = match read_request(line) {
            Ok(request) => request,
            Err(error) => return error_line(&error, None),
        };
        let id = request.get_str("id").map(|id| {
            write(id, &WriteOptions { tags: false, ..WriteOptions::default() }).unwrap_or_default()
        });
        let (value, tuples_as_arrays) = match self.evaluate(&request) {
            Ok(answer) => answer,
            Err(error) => return error_line(&error, id.as_deref()),
        };
        let options =
            WriteOptions { tuples_as_arrays, bytes_max: ANSWER_BYTES_MAX, ..WriteOptions::default() };
        match write_after("{\"ok\": ", &value, &options) {
            Ok(answer) => close(answer, id.as_deref()),
            // Python YAQL fails while printing its response in this case and omits the id.
            Err(error) => error_line(&error, None),
        }
    }

    fn evaluate(&mut self, request: &Map) -> Result<(Value, bool)> {
        let (options, delegates, legacy) = read_options(request.get_str("options"))?;
        let engine = self
            .engines
            .entry((delegates, legacy))
            .or_insert_with(|| Engine::with_dialect(delegates, legacy));
        let source = request.get_str("expr").and_then(Value::as_str).unwrap_or_default();
        let expression = engine.compile(source)?;
        let style = if options.convert_input_data { InputStyle::Converted } else { InputStyle::Unconverted };
        let mut vars = Vec::new();
        if let Some(variables) = request.get_str("vars").filter(|variables| variables.is_true()) {
            let Value::FrozenDict(map) = variables else {
                let message = format!("'{}' object has no attribute 'items'", variables.type_name());
                return Err(Box::new(Error::new(ErrorClass::Attribute, message)));
            };
            for (name, value) in map.iter() {
                let name = name.as_str().unwrap_or_default();
                let name = VarName::new(name.strip_prefix('$').unwrap_or(name));
                vars.push((name, decode(value.clone(), style)?));
            }
        }
        let data = decode(request.get_str("data").cloned().unwrap_or_default(), style)?;
        let input =
            Input { data, vars, options: &options, limits: &self.limits, host: self.host, observer: None };
        let value = expression.run(input)?;
        Ok((value, options.convert_tuples_to_lists && options.convert_output_data))
    }
}

/// Returns the error response to a line that cannot be passed to a [`Responder`].
pub fn error_response(message: &str) -> String {
    error_line(&Error::new(ErrorClass::Protocol, message), None)
}

fn read_request(line: &str) -> std::result::Result<Arc<Map>, Error> {
    let request = parse(line).map_err(|error| {
        let class = if error.too_deep { ErrorClass::Recursion } else { ErrorClass::Protocol };
        Error::new(class, error.to_string())
    })?;
    match request {
        Value::FrozenDict(request) if request.get_str("expr").is_some_and(|expr| expr.as_str().is_some()) => {
            Ok(request)
        }
        _ => Err(Error::new(ErrorClass::Protocol, "a request must be an object with a string `expr`")),
    }
}

fn read_options(fields: Option<&Value>) -> Result<(Options, bool, Legacy)> {
    let mut options = Options::default();
    let mut delegates = false;
    let mut legacy = Legacy::Off;
    let fields = fields.filter(|fields| fields.is_true());
    let entries = fields.and_then(Value::as_map).cloned();
    if let (Some(fields), None) = (fields, &entries) {
        return Err(Box::new(Error::kind(format!("'{}' object is not iterable", fields.type_name()))));
    }
    for (name, value) in entries.iter().flat_map(|map| map.iter()) {
        let number = || match value {
            Value::Int(number) => Ok(*number),
            Value::Bool(flag) => Ok(i64::from(*flag)),
            _ => Err(Box::new(Error::kind("option value must be an integer"))),
        };
        match name.as_str().unwrap_or_default() {
            "yaql.limitIterators" => options.limit_iterators = number()?,
            "yaql.memoryQuota" => options.memory_quota = number()?,
            "yaql.convertTuplesToLists" => options.convert_tuples_to_lists = value.is_true(),
            "yaql.convertSetsToLists" => options.convert_sets_to_lists = value.is_true(),
            "yaql.convertInputData" => options.convert_input_data = value.is_true(),
            "yaql.convertOutputData" => options.convert_output_data = value.is_true(),
            "yaql.iterableDicts" => options.iterable_dicts = value.is_true(),
            "delegates" => delegates = value.is_true(),
            "legacy" => {
                legacy = match value.as_str() {
                    Some("full") => Legacy::Full,
                    _ if value.is_true() => Legacy::Context,
                    _ => Legacy::Off,
                };
            }
            _ => {}
        }
    }
    if legacy == Legacy::Full {
        options.convert_tuples_to_lists = false;
        options.iterable_dicts = true;
    }
    Ok((options, delegates, legacy))
}

fn error_line(error: &Error, id: Option<&str>) -> String {
    let quoted = |text: &str| write(&Value::str(text), &WriteOptions::default()).unwrap_or_default();
    close(format!("{{\"err\": {}, \"msg\": {}", quoted(error.class.name()), quoted(&error.message)), id)
}

/// Completes a response object, adding the id of the request if there is one.
fn close(mut answer: String, id: Option<&str>) -> String {
    if let Some(id) = id {
        answer.push_str(", \"id\": ");
        answer.push_str(id);
    }
    answer.push('}');
    answer
}
