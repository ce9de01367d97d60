//! Arithmetic and comparison that charge large integers to the budget.

use std::cmp::Ordering;

use num_bigint::BigInt;

use super::cost;
use crate::stdlib::prelude::*;
use crate::value::number;

/// Returns the lengths in bits of both operands if either is a large integer.
fn large(a: &Value, b: &Value) -> Option<(u64, u64)> {
    match (a, b) {
        (Value::BigInt(_), _) | (_, Value::BigInt(_)) => Some((cost::bits(a), cost::bits(b))),
        _ => None,
    }
}

/// Unwraps a result. The signatures admit only numbers, so there is always a result.
fn result(result: Option<Result<Value>>) -> Result<Value> {
    result.unwrap_or(Ok(Value::Null))
}

pub(super) fn add(cx: &mut Cx<'_>, a: &Value, b: &Value) -> Result<Value> {
    if let Some((a, b)) = large(a, b) {
        cost::room(cx, a.max(b))?;
    }
    result(number::add(a, b))
}

pub(super) fn sub(cx: &mut Cx<'_>, a: &Value, b: &Value) -> Result<Value> {
    if let Some((a, b)) = large(a, b) {
        cost::room(cx, a.max(b))?;
    }
    result(number::sub(a, b))
}

pub(super) fn mul(cx: &mut Cx<'_>, a: &Value, b: &Value) -> Result<Value> {
    if let Some((a, b)) = large(a, b) {
        // The minimum length of the product, which the quota applies to.
        cost::room(cx, (a + b).saturating_sub(1))?;
        cost::multiply(cx, a, b)?;
    }
    result(number::mul(a, b))
}

pub(super) fn div(cx: &mut Cx<'_>, a: &Value, b: &Value) -> Result<Value> {
    if let Some((a, b)) = large(a, b) {
        cost::room(cx, a.saturating_sub(b))?;
        cost::divide(cx, a, b)?;
    }
    result(number::div(a, b))
}

pub(super) fn modulo(cx: &mut Cx<'_>, a: &Value, b: &Value) -> Result<Value> {
    if let Some((a, b)) = large(a, b) {
        cost::room(cx, b)?;
        cost::divide(cx, a, b)?;
    }
    result(number::modulo(a, b))
}

pub(super) fn negate(cx: &mut Cx<'_>, value: &Value) -> Result<Value> {
    if let Value::BigInt(number) = value {
        cost::room(cx, number.bits())?;
    }
    result(number::neg(value).map(Ok))
}

pub(super) fn compare(cx: &mut Cx<'_>, args: &Args<'_>, fits: fn(Ordering) -> bool) -> Result<Value> {
    let (a, b) = (args.peek(0), args.peek(1));
    cost::linear(cx, a)?;
    let order = number::compare(a, b).flatten();
    Ok(Value::Bool(order.is_some_and(fits)))
}

/// Applies a bitwise operation. Two booleans yield a boolean.
pub(super) fn bitwise(
    cx: &mut Cx<'_>,
    args: &Args<'_>,
    on_bools: fn(bool, bool) -> bool,
    on_words: fn(i64, i64) -> i64,
    on_large: fn(BigInt, BigInt) -> BigInt,
) -> Result<Value> {
    let (a, b) = (args.peek(0), args.peek(1));
    if let (Value::Bool(a), Value::Bool(b)) = (a, b) {
        return Ok(Value::Bool(on_bools(*a, *b)));
    }
    if let Some((a, b)) = large(a, b) {
        // The result of `and` may be shorter, but the operation needs this much memory.
        cost::room(cx, a.max(b))?;
        return Ok(Value::int(on_large(args.big_int(0), args.big_int(1))));
    }
    Ok(Value::Int(on_words(args.int(0), args.int(1))))
}
