//! Values of all subexpressions of an evaluation.

mod draw;

use stoker_yaql::people::{Part, Seen, Trace, in_words, one_line, parts, short};
use stoker_yaql::value::Map;
use stoker_yaql::{Expression, Result, Value};

use super::session::Session;

pub(crate) use draw::draw;

const ROOT_CHARS_MAX: usize = 200;

/// An expression with the values of its subexpressions, followed by the helpers that it called.
pub(crate) struct Explanation {
    pub(crate) root: Part,
    /// Names and bodies of the called helpers.
    pub(crate) helpers: Vec<(String, Part)>,
}

impl Explanation {
    pub(crate) fn new(
        expression: &Expression,
        result: &Result<Value>,
        trace: &Trace,
        session: &Session,
    ) -> Self {
        let mut root = parts(&expression.program().tree, trace);
        root.text = one_line(expression.source());
        // The trace saw the result before lazy iterators were consumed.
        root.seen = match result {
            Ok(value) => Seen { count: 1, values: vec![short(value, ROOT_CHARS_MAX)], error: None },
            Err(error) => {
                Seen { count: 1, values: Vec::new(), error: Some(in_words(error.class, &error.message)) }
            }
        };
        let mut helpers = Vec::new();
        for source in trace.sources() {
            let (Some(name), Ok(body)) = (session.helper_name(source), session.engine.compile(source)) else {
                continue;
            };
            helpers.push((name.to_owned(), parts(&body.program().tree, trace)));
        }
        Self { root, helpers }
    }

    /// Converts the explanation to data.
    pub(crate) fn to_value(&self) -> Value {
        let helpers = self.helpers.iter().map(|(name, part)| (name.as_str(), part_value(part)));
        Value::frozen_dict(Map::from_strings([
            ("expression", part_value(&self.root)),
            ("helpers", Value::frozen_dict(Map::from_strings(helpers))),
        ]))
    }
}

fn part_value(part: &Part) -> Value {
    let mut entries = vec![
        ("text", Value::str(part.text.as_str())),
        ("count", Value::from(part.seen.count)),
        ("values", Value::tuple(part.seen.values.iter().map(|value| Value::str(value.as_str())).collect())),
    ];
    if let Some(error) = &part.seen.error {
        entries.push(("error", Value::str(error.as_str())));
    }
    entries.push(("parts", Value::tuple(part.parts.iter().map(part_value).collect())));
    Value::frozen_dict(Map::from_strings(entries))
}
