//! The value of a condition on data.

use std::borrow::Cow;
use std::ops::Range;

use stoker_model::Json;

use crate::dialect::Dialect;
use crate::error::{ConditionError, codes, quoted};
use crate::tree::{Comparison, Expr, ExprKind, ModelPath};
use crate::truth::{equal, is_true};

/// From the name of a model to its document. The documents live for `'m`; the lookup itself need not.
pub type Models<'f, 'm> = dyn Fn(&str) -> Option<&'m Json> + 'f;

/// A value, and what in the text led to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    pub value: Json,
    /// Bytes of the smallest part of the condition that decided alone: the `b` of `a and b` if it is false.
    pub span: Range<usize>,
}

pub(crate) struct Found<'v> {
    pub(crate) value: Cow<'v, Json>,
    pub(crate) span: Range<usize>,
}

pub(crate) fn evaluate<'v, 'm: 'v>(
    expr: &'v Expr,
    models: &Models<'_, 'm>,
    dialect: Dialect,
) -> Result<Found<'v>, ConditionError> {
    let found = |value: Cow<'v, Json>| Found { value, span: expr.span.clone() };
    match &expr.kind {
        ExprKind::Constant(value) => Ok(found(Cow::Borrowed(value))),
        ExprKind::Path(path) => walk(path, &expr.span, models, dialect).map(found),
        ExprKind::Not(operand) => {
            let value = evaluate(operand, models, dialect)?.value;
            Ok(found(boolean(!is_true(&value))))
        }
        ExprKind::And(operands) => first_of(operands, false, expr, models, dialect),
        ExprKind::Or(operands) => first_of(operands, true, expr, models, dialect),
        ExprKind::Compare(first, rest) => {
            let mut value = evaluate(first, models, dialect)?.value;
            for (operator, operand) in rest {
                let right = evaluate(operand, models, dialect)?.value;
                value = boolean(compare(&value, *operator, &right, operand, dialect)?);
            }
            Ok(found(value))
        }
    }
}

/// The first operand whose truth ends the chain, or the last. The last alone decides nothing unless it ends it too.
fn first_of<'v, 'm: 'v>(
    operands: &'v [Expr],
    ends_with: bool,
    whole: &Expr,
    models: &Models<'_, 'm>,
    dialect: Dialect,
) -> Result<Found<'v>, ConditionError> {
    let mut last = Cow::Owned(Json::Null);
    for operand in operands {
        let found = evaluate(operand, models, dialect)?;
        if is_true(&found.value) == ends_with {
            return Ok(found);
        }
        last = found.value;
    }
    Ok(Found { value: last, span: whole.span.clone() })
}

fn boolean<'v>(flag: bool) -> Cow<'v, Json> {
    Cow::Owned(Json::Bool(flag))
}

fn walk<'v, 'm: 'v>(
    path: &ModelPath,
    span: &Range<usize>,
    models: &Models<'_, 'm>,
    dialect: Dialect,
) -> Result<Cow<'v, Json>, ConditionError> {
    let Some(mut value) = models(&path.model) else {
        let message = format!("there is no model {}", quoted(&path.model));
        return Err(ConditionError::new(codes::UNKNOWN_MODEL, span.clone(), message));
    };
    for (key_idx, key) in path.keys.iter().enumerate() {
        value = match value {
            Json::Object(map) => match map.get(key) {
                Some(inner) => inner,
                None if dialect.forgives_missing() => &Json::Null,
                None => return Err(missing(path, key_idx, span)),
            },
            Json::Null if !dialect.is_task() && dialect.forgives_missing() => &Json::Null,
            Json::Null if !dialect.is_task() => return Err(missing(path, key_idx, span)),
            other => return Err(no_map(path, key_idx, other, span)),
        };
    }
    Ok(Cow::Borrowed(value))
}

/// The path up to a key, the key left out.
fn before(path: &ModelPath, key_idx: usize) -> String {
    quoted(&format!("{}:{}", path.model, path.keys[..key_idx].join(".")))
}

fn missing(path: &ModelPath, key_idx: usize, span: &Range<usize>) -> ConditionError {
    let message = format!("{} has no key {}", before(path, key_idx), quoted(&path.keys[key_idx]));
    ConditionError::new(codes::MISSING_KEY, span.clone(), message)
        .with_help("check the spelling, or say `strict: false` where a missing key means null")
}

fn no_map(path: &ModelPath, key_idx: usize, value: &Json, span: &Range<usize>) -> ConditionError {
    let (whole, key) = (before(path, key_idx), quoted(&path.keys[key_idx]));
    let message = format!("{whole} is {}, which has no key {key}", kind_name(value));
    ConditionError::new(codes::KIND, span.clone(), message)
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
            let message = format!("{left} cannot be looked for in {right}");
            Err(ConditionError::new(codes::KIND, operand.span.clone(), message)
                .with_help("`in` looks for a value in a list, or for text in text"))
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
