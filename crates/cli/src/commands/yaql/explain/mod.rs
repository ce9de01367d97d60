//! Values of all subexpressions of an evaluation.

mod draw;

use stoker_yaql::presentation::{
    ExplainNode, NodeTrace, Trace, collapse_whitespace, describe_error, explain_tree, summarize,
};
use stoker_yaql::value::Map;
use stoker_yaql::{Expression, Result, Value};

use super::session::Session;

pub(crate) use draw::draw;

const ROOT_CHARS_MAX: usize = 200;

/// An expression with the values of its subexpressions, followed by the helpers that it called.
pub(crate) struct Explanation {
    pub(crate) root: ExplainNode,
    /// Names and bodies of the called helpers.
    pub(crate) helpers: Vec<(String, ExplainNode)>,
}

impl Explanation {
    pub(crate) fn new(
        expression: &Expression,
        result: &Result<Value>,
        trace: &Trace,
        session: &Session,
    ) -> Self {
        let mut root = explain_tree(&expression.program().tree, trace);
        root.text = collapse_whitespace(expression.source());
        // The trace saw the result before lazy iterators were consumed.
        root.trace = match result {
            Ok(value) => NodeTrace { count: 1, values: vec![summarize(value, ROOT_CHARS_MAX)], error: None },
            Err(error) => NodeTrace {
                count: 1,
                values: Vec::new(),
                error: Some(describe_error(error.class, &error.message)),
            },
        };
        let mut helpers = Vec::new();
        for source in trace.sources() {
            let (Some(name), Ok(body)) = (session.helper_name(source), session.engine.compile(source)) else {
                continue;
            };
            helpers.push((name.to_owned(), explain_tree(&body.program().tree, trace)));
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

fn part_value(part: &ExplainNode) -> Value {
    let mut entries = vec![
        ("text", Value::str(part.text.as_str())),
        ("count", Value::from(part.trace.count)),
        ("values", Value::tuple(part.trace.values.iter().map(|value| Value::str(value.as_str())).collect())),
    ];
    if let Some(error) = &part.trace.error {
        entries.push(("error", Value::str(error.as_str())));
    }
    entries.push(("parts", Value::tuple(part.children.iter().map(part_value).collect())));
    Value::frozen_dict(Map::from_strings(entries))
}
