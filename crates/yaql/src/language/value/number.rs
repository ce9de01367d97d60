//! Arithmetic: unbounded integers, IEEE 754 floats, and Python's error messages.

use std::borrow::Cow;
use std::cmp::Ordering;

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::Zero;

use super::Value;
use crate::error::{Error, ErrorClass, Result};
use crate::pytext::{cmp_i64_float, cmp_int_float, float_floor_mod, int_to_float};

/// Two numbers converted to a common type.
enum Pair<'a> {
    Small(i64, i64),
    Big(Cow<'a, BigInt>, Cow<'a, BigInt>),
    Float(f64, f64),
}

/// Converts two numbers to a common type; `None` if either is not a number. Booleans are not numbers here.
fn pair<'a>(a: &'a Value, b: &'a Value) -> Option<Result<Pair<'a>>> {
    Some(match (a, b) {
        (Value::Int(a), Value::Int(b)) => Ok(Pair::Small(*a, *b)),
        (Value::Float(a), Value::Float(b)) => Ok(Pair::Float(*a, *b)),
        (Value::Float(a), Value::Int(_) | Value::BigInt(_)) => to_float(b).map(|b| Pair::Float(*a, b)),
        (Value::Int(_) | Value::BigInt(_), Value::Float(b)) => to_float(a).map(|a| Pair::Float(a, *b)),
        (Value::Int(_) | Value::BigInt(_), Value::Int(_) | Value::BigInt(_)) => {
            Ok(Pair::Big(as_big(a), as_big(b)))
        }
        _ => return None,
    })
}

/// Converts to an integer; 0 for other types.
pub(crate) fn to_big(value: &Value) -> BigInt {
    match value {
        Value::Int(number) => (*number).into(),
        Value::BigInt(number) => (**number).clone(),
        Value::Bool(flag) => i64::from(*flag).into(),
        _ => BigInt::zero(),
    }
}

/// Like [`to_big`], borrowing a large integer.
fn as_big(value: &Value) -> Cow<'_, BigInt> {
    match value {
        Value::BigInt(number) => Cow::Borrowed(number),
        _ => Cow::Owned(to_big(value)),
    }
}

pub(crate) fn to_float(value: &Value) -> Result<f64> {
    match value {
        Value::Float(number) => Ok(*number),
        Value::Int(number) => Ok(*number as f64),
        _ => int_to_float(&as_big(value)),
    }
}

fn zero_division(message: &str) -> Box<Error> {
    Box::new(Error::new(ErrorClass::ZeroDivision, message))
}

pub(crate) fn add(a: &Value, b: &Value) -> Option<Result<Value>> {
    Some(pair(a, b)?.map(|pair| match pair {
        Pair::Small(a, b) => a.checked_add(b).map_or_else(|| Value::int(BigInt::from(a) + b), Value::Int),
        Pair::Big(a, b) => Value::int(&*a + &*b),
        Pair::Float(a, b) => Value::Float(a + b),
    }))
}

pub(crate) fn sub(a: &Value, b: &Value) -> Option<Result<Value>> {
    Some(pair(a, b)?.map(|pair| match pair {
        Pair::Small(a, b) => a.checked_sub(b).map_or_else(|| Value::int(BigInt::from(a) - b), Value::Int),
        Pair::Big(a, b) => Value::int(&*a - &*b),
        Pair::Float(a, b) => Value::Float(a - b),
    }))
}

pub(crate) fn mul(a: &Value, b: &Value) -> Option<Result<Value>> {
    Some(pair(a, b)?.map(|pair| match pair {
        Pair::Small(a, b) => a.checked_mul(b).map_or_else(|| Value::int(BigInt::from(a) * b), Value::Int),
        Pair::Big(a, b) => Value::int(&*a * &*b),
        Pair::Float(a, b) => Value::Float(a * b),
    }))
}

/// Divides: floor division for two integers, true division otherwise.
pub(crate) fn div(a: &Value, b: &Value) -> Option<Result<Value>> {
    Some(pair(a, b)?.and_then(|pair| match pair {
        Pair::Small(_, 0) => Err(zero_division("integer division or modulo by zero")),
        Pair::Small(a, b) if a != i64::MIN => Ok(Value::Int(Integer::div_floor(&a, &b))),
        Pair::Small(a, b) => Ok(Value::int(BigInt::from(a).div_floor(&b.into()))),
        Pair::Big(_, b) if b.is_zero() => Err(zero_division("integer division or modulo by zero")),
        Pair::Big(a, b) => Ok(Value::int(a.div_floor(&b))),
        Pair::Float(_, 0.0) => Err(zero_division("float division by zero")),
        Pair::Float(a, b) => Ok(Value::Float(a / b)),
    }))
}

/// Returns the modulo, which has the sign of the divisor.
pub(crate) fn modulo(a: &Value, b: &Value) -> Option<Result<Value>> {
    Some(pair(a, b)?.and_then(|pair| match pair {
        Pair::Small(_, 0) => Err(zero_division("integer modulo by zero")),
        Pair::Small(a, b) if a != i64::MIN => Ok(Value::Int(a.mod_floor(&b))),
        Pair::Small(a, b) => Ok(Value::int(BigInt::from(a).mod_floor(&b.into()))),
        Pair::Big(_, b) if b.is_zero() => Err(zero_division("integer modulo by zero")),
        Pair::Big(a, b) => Ok(Value::int(a.mod_floor(&b))),
        Pair::Float(a, b) => Ok(Value::Float(float_floor_mod(a, b)?)),
    }))
}

pub(crate) fn neg(value: &Value) -> Option<Value> {
    Some(match value {
        Value::Int(number) => {
            number.checked_neg().map_or_else(|| Value::int(-BigInt::from(*number)), Value::Int)
        }
        Value::BigInt(number) => Value::int(-&**number),
        Value::Float(number) => Value::Float(-number),
        _ => return None,
    })
}

/// Compares exact values. `Some(None)` if either is NaN, `None` if either is not a number.
#[expect(clippy::option_option, reason = "distinguishes non-numbers from unordered numbers")]
pub(crate) fn compare(a: &Value, b: &Value) -> Option<Option<Ordering>> {
    Some(match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Float(a), Value::Float(b)) => a.partial_cmp(b),
        (Value::Int(a), Value::Float(b)) => cmp_i64_float(*a, *b),
        (Value::Float(a), Value::Int(b)) => cmp_i64_float(*b, *a).map(Ordering::reverse),
        (Value::BigInt(a), Value::Float(b)) => cmp_int_float(a, *b),
        (Value::Float(a), Value::BigInt(b)) => cmp_int_float(b, *a).map(Ordering::reverse),
        (Value::Int(_) | Value::BigInt(_), Value::Int(_) | Value::BigInt(_)) => {
            Some(as_big(a).cmp(&as_big(b)))
        }
        _ => return None,
    })
}
