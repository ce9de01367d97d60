use crate::stdlib::prelude::*;
use crate::value::{Table, size};

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Groups elements by key. Returns `[key, values]` pairs, ordered by the first occurrence of each key. The values are the elements, or the results of the value selector; an aggregator replaces each list of values by a single value. The grouping is immediate, the aggregation lazy. Fails with TypeError if a key is unhashable. Aggregators in the style of YAQL 1.1.1, which receive and return the `[key, values]` pair, are supported.",
    overloads: &[(
        "m groupBy(collection: iter, keySelector: lambda, valueSelector: lambda = null, aggregator: lambda = null)",
        group_by,
    )],
    examples: &[
        ("[3, 8, 5].groupBy($ mod 2)", "[[1, [3, 5]], [0, [8]]]"),
        ("[[x, 2], [y, 3], [x, 4]].groupBy($[0], $[1])", r#"[["x", [2, 4]], ["y", [3]]]"#),
        ("[[x, 2], [y, 3], [x, 4]].groupBy($[0], $[1], $.max())", r#"[["x", 4], ["y", 3]]"#),
        ("[3, 8, 5].groupBy($ mod 2,, $.sum())", "[[1, 8], [0, 8]]"),
        ("[[x, 2], [y, 3]].groupBy($[0], $[1], [$[0], $[1].sum() * 2])", r#"[["x", 4], ["y", 6]]"#),
        ("[1].groupBy([$].enumerate().first())", "TypeError"),
    ],
    purity: Purity::Pure,
};

fn group_by(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let mut source = cx.iterate(args.value(0))?;
    let mut key_selector = args.lambda(1);
    let mut value_selector = args.optional_lambda(2);
    let aggregator = args.optional_lambda(3);
    let mut groups: Table<Vec<Value>> = Table::default();
    let mut depth = aggregator.as_ref().map_or(0, Lambda::depth);
    while let Some(item) = source.next(cx)? {
        let value = match &mut value_selector {
            Some(selector) => selector.call1(cx, item.clone())?,
            None => item.clone(),
        };
        let key = Key::new(key_selector.call1(cx, item)?)?;
        depth = depth.max(value.depth()).max(key.value().depth());
        cx.charge(24)?;
        let previous_len = groups.len();
        groups.get_or_insert_with(key, Vec::new).push(value);
        if groups.len() > previous_len {
            cx.charge(96)?;
            cx.check_bytes(size::dict_size(groups.len()))?;
        }
    }
    let aggregator = aggregator.map(Aggregator::new);
    cx.lazy(GroupBy { groups: groups.into_entries().into_iter(), aggregator }, depth)
}

struct GroupBy {
    groups: std::vec::IntoIter<(Key, Vec<Value>)>,
    aggregator: Option<Aggregator>,
}

impl Lazy for GroupBy {
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        let Some((key, values)) = self.groups.next() else { return Ok(None) };
        let values = cx.list(values)?;
        let key = key.into_value();
        let group = match &mut self.aggregator {
            Some(aggregator) => aggregator.aggregate(cx, key, values)?,
            None => cx.tuple(vec![key, values])?,
        };
        Ok(Some(group))
    }
}

/// Calls the aggregator with the values of a group or, in the style of version 1.1.1, with the pair of key
/// and values. The style is detected from errors and results.
struct Aggregator {
    lambda: Lambda,
    /// Whether the arguments can still be in the style of version 1.1.1.
    may_be_legacy: bool,
    /// The error that ruled out the current style.
    failure: Option<Box<Error>>,
}

impl Aggregator {
    fn new(lambda: Lambda) -> Self {
        Self { lambda, may_be_legacy: true, failure: None }
    }

    fn aggregate(&mut self, cx: &mut Cx<'_>, key: Value, values: Value) -> Result<Value> {
        let failure = match self.failure.clone() {
            Some(failure) => failure,
            None => match self.lambda.call1(cx, values.clone()) {
                Ok(result) => {
                    self.may_be_legacy &= looks_legacy(&values, &result);
                    return cx.tuple(vec![key, result]);
                }
                Err(error) if indicates_legacy_style(&error) => self.failure.insert(error).clone(),
                Err(error) => return Err(error),
            },
        };
        if !self.may_be_legacy {
            return Err(failure);
        }
        let pair = cx.tuple(vec![key, values])?;
        match self.lambda.call1(cx, pair) {
            Ok(result) if python_len(&result) == Some(2) => Ok(result),
            // Limits and interruption end the evaluation; otherwise the first error is reported.
            Err(error) if matches!(error.class, ErrorClass::StepLimit | ErrorClass::Interrupted) => {
                Err(error)
            }
            _ => Err(failure),
        }
    }
}

/// Reports whether an error is typical of an aggregator written for pairs that is called with a list.
fn indicates_legacy_style(error: &Error) -> bool {
    matches!(error.class, ErrorClass::NoMatchingMethod | ErrorClass::NoMatchingFunction | ErrorClass::Index)
}

/// Reports whether a successful call may have treated two values as key and values.
fn looks_legacy(values: &Value, result: &Value) -> bool {
    match (values.as_seq(), result.as_seq()) {
        (Some(values), Some(result)) => {
            values.len() == 2 && result.len() == 2 && result[0].equals(&values[0])
        }
        _ => false,
    }
}

/// Returns the length of any value that has one in Python YAQL.
fn python_len(value: &Value) -> Option<usize> {
    match value {
        Value::Str(text) => Some(text.chars().take(3).count()),
        Value::Values(view) => Some(view.map.len()),
        other => other.sized_len(),
    }
}
