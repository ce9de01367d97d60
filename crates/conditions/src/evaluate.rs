//! Evaluation of conditions.

use std::borrow::Cow;
use std::ops::Range;

use stoker_diagnostics::quoted;
use stoker_model::Json;

use crate::dialect::Dialect;
use crate::error::{ConditionError, codes};
use crate::tree::{Comparison, Expr, ExprKind, ModelPath};
use crate::truth::{equal, is_true};

/// Looks up the document of a model by name. The documents live for `'m`; the lookup itself need not.
pub type Models<'f, 'm> = dyn Fn(&str) -> Option<&'m Json> + 'f;

/// The value of a condition, and the part of the text that decided it.
#[derive(Clone, Debug, PartialEq)]
pub struct ConditionResult {
    pub value: Json,
    /// Byte range of the smallest part that alone decided the result: the `b` of `a and b` if it is false.
    pub span: Range<usize>,
}

pub(crate) struct Outcome<'v> {
    pub(crate) value: Cow<'v, Json>,
    pub(crate) span: Range<usize>,
}

pub(crate) fn evaluate<'v, 'm: 'v>(
    expr: &'v Expr,
    models: &Models<'_, 'm>,
    dialect: Dialect,
) -> Result<Outcome<'v>, ConditionError> {
    let outcome = |value: Cow<'v, Json>| Outcome { value, span: expr.span.clone() };
    match &expr.kind {
        ExprKind::Constant(value) => Ok(outcome(Cow::Borrowed(value))),
        ExprKind::Path(path) => resolve(path, &expr.span, models, dialect).map(outcome),
        ExprKind::Not(operand) => {
            let value = evaluate(operand, models, dialect)?.value;
            Ok(outcome(boolean(!is_true(&value))))
        }
        ExprKind::And(operands) => first_of(operands, false, expr, models, dialect),
        ExprKind::Or(operands) => first_of(operands, true, expr, models, dialect),
        ExprKind::Compare(first, rest) => {
            let mut value = evaluate(first, models, dialect)?.value;
            for (operator, operand) in rest {
                let right = evaluate(operand, models, dialect)?.value;
                value = boolean(compare(&value, *operator, &right, operand, dialect)?);
            }
            Ok(outcome(value))
        }
    }
}

/// Returns the first operand whose truth value decides the chain, otherwise the last. If no operand decides,
/// the span is the whole chain.
fn first_of<'v, 'm: 'v>(
    operands: &'v [Expr],
    ends_with: bool,
    whole: &Expr,
    models: &Models<'_, 'm>,
    dialect: Dialect,
) -> Result<Outcome<'v>, ConditionError> {
    let mut last = Cow::Owned(Json::Null);
    for operand in operands {
        let outcome = evaluate(operand, models, dialect)?;
        if is_true(&outcome.value) == ends_with {
            return Ok(outcome);
        }
        last = outcome.value;
    }
    Ok(Outcome { value: last, span: whole.span.clone() })
}

fn boolean<'v>(flag: bool) -> Cow<'v, Json> {
    Cow::Owned(Json::Bool(flag))
}

fn resolve<'v, 'm: 'v>(
    path: &ModelPath,
    span: &Range<usize>,
    models: &Models<'_, 'm>,
    dialect: Dialect,
) -> Result<Cow<'v, Json>, ConditionError> {
    let Some(mut value) = models(&path.model) else {
        let message = format!("unknown model {}", quoted(&path.model));
        return Err(ConditionError::new(codes::UNKNOWN_MODEL, span.clone(), message));
    };
    for (key_idx, key) in path.keys.iter().enumerate() {
        value = match value {
            Json::Object(map) => match map.get(key) {
                Some(inner) => inner,
                None if dialect.allows_missing_keys() => &Json::Null,
                None => return Err(missing_key(path, key_idx, span)),
            },
            Json::Null if !dialect.is_task() && dialect.allows_missing_keys() => &Json::Null,
            Json::Null if !dialect.is_task() => return Err(missing_key(path, key_idx, span)),
            other => return Err(not_a_map(path, key_idx, other, span)),
        };
    }
    Ok(Cow::Borrowed(value))
}

/// Returns the path up to a key, exclusive.
fn path_before(path: &ModelPath, key_idx: usize) -> String {
    quoted(&format!("{}:{}", path.model, path.keys[..key_idx].join(".")))
}

fn missing_key(path: &ModelPath, key_idx: usize, span: &Range<usize>) -> ConditionError {
    let message = format!("{} has no key {}", path_before(path, key_idx), quoted(&path.keys[key_idx]));
    ConditionError::new(codes::MISSING_KEY, span.clone(), message)
        .with_help("check the spelling, or set `strict: false` to treat missing keys as null")
}

fn not_a_map(path: &ModelPath, key_idx: usize, value: &Json, span: &Range<usize>) -> ConditionError {
    let (whole, key) = (path_before(path, key_idx), quoted(&path.keys[key_idx]));
    let message = format!("{whole} is {}, which has no key {key}", kind_name(value));
    ConditionError::new(codes::TYPE, span.clone(), message)
}

fn compare(
    left: &Json,
    operator: Comparison,
    right: &Json,
    operand: &Expr,
    dialect: Dialect,
) -> Result<bool, ConditionError> {
    match operator {
        Comparison::Equal => Ok(equal(left, right, dialect.is_task())),
        Comparison::Unequal => Ok(!equal(left, right, dialect.is_task())),
        Comparison::In => contains(left, right, operand, dialect),
    }
}

fn contains(left: &Json, right: &Json, operand: &Expr, dialect: Dialect) -> Result<bool, ConditionError> {
    match (left, right) {
        (_, Json::Array(items)) => Ok(items.iter().any(|item| equal(left, item, dialect.is_task()))),
        (Json::String(part), Json::String(whole)) => Ok(whole.contains(part)),
        (Json::String(key), Json::Object(map)) if dialect.is_task() => Ok(map.contains_key(key)),
        (_, Json::Object(_)) if dialect.is_task() => Ok(false),
        _ => {
            let (left, right) = (kind_name(left), kind_name(right));
            let message = format!("`in` cannot search for {left} in {right}");
            Err(ConditionError::new(codes::TYPE, operand.span.clone(), message)
                .with_help("`in` tests whether a list contains a value, or a text contains another text"))
        }
    }
}

fn kind_name(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "text",
        Json::Array(_) => "a list",
        Json::Object(_) => "a map",
    }
}
