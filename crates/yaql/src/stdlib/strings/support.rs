//! Helpers of the string functions: cost accounting and bounded string construction.

use std::fmt::Write as _;
use std::sync::Arc;

use num_traits::{Signed, ToPrimitive};

use crate::stdlib::prelude::*;
use crate::value::number;

/// Charges for scanning this many bytes.
pub(in crate::stdlib) fn scan(cx: &mut Cx<'_>, bytes: usize) -> Result<()> {
    cx.steps(bytes as u64 / 32)
}

/// Returns a part of a text as a value. If the part is the whole text, the text is shared.
pub(in crate::stdlib) fn part(cx: &mut Cx<'_>, whole: &Arc<str>, part: &str) -> Result<Value> {
    if part.len() == whole.len() { Ok(Value::Str(whole.clone())) } else { cx.text(part) }
}

/// Returns a count that must fit a machine word, as in Python YAQL.
pub(in crate::stdlib) fn word_sized(count: &Value) -> Result<i64> {
    match count {
        Value::Int(number) => Ok(*number),
        Value::Bool(flag) => Ok(i64::from(*flag)),
        _ => Err(Box::new(Error::overflow("Python int too large to convert to C ssize_t"))),
    }
}

/// Returns an integer for position arithmetic, saturated so that sums do not overflow.
pub(in crate::stdlib) fn wide(number: &Value) -> i128 {
    const POSITION_BOUND: i128 = i128::MAX / 4;
    match number {
        Value::Int(number) => i128::from(*number),
        Value::Bool(flag) => i128::from(*flag),
        other => {
            let number = number::to_big(other);
            number
                .to_i128()
                .unwrap_or(if number.is_negative() { -POSITION_BOUND } else { POSITION_BOUND })
                .clamp(-POSITION_BOUND, POSITION_BOUND)
        }
    }
}

/// Saturates a position to the range of `i64`.
pub(in crate::stdlib) fn narrow(number: i128) -> i64 {
    number.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

/// Checks and charges a text of this many bytes before it is built.
pub(in crate::stdlib) fn reserve(cx: &mut Cx<'_>, bytes: usize) -> Result<()> {
    // Python YAQL needs at least half as many bytes as UTF-8. The exact size is checked when the text exists.
    cx.check_bytes(bytes as u64 / 2)?;
    cx.charge(bytes as u64)
}

/// A string under construction, charged as it grows.
#[derive(Default)]
pub(in crate::stdlib) struct TextBuilder {
    out: String,
}

impl TextBuilder {
    pub(in crate::stdlib) fn push(&mut self, cx: &mut Cx<'_>, text: &str) -> Result<()> {
        cx.check_bytes((self.out.len() + text.len()) as u64 / 2)?;
        cx.charge(text.len() as u64)?;
        self.out.push_str(text);
        Ok(())
    }

    /// Appends a value converted with `str`.
    pub(in crate::stdlib) fn push_value(&mut self, cx: &mut Cx<'_>, value: &Value) -> Result<()> {
        match value {
            Value::Str(text) => self.push(cx, text),
            Value::Int(number) => {
                cx.charge(20)?;
                _ = write!(self.out, "{number}");
                Ok(())
            }
            other => {
                let text = other.to_text(cx.text_max())?;
                self.push(cx, &text)
            }
        }
    }

    pub(in crate::stdlib) fn finish(self) -> Value {
        Value::str(self.out)
    }
}

/// Converts a value with `str`, which may have been redefined.
pub(in crate::stdlib) fn call_str(cx: &mut Cx<'_>, value: Value, args: &Args<'_>) -> Result<Value> {
    if cx.redefined("str", args.ctx) {
        return cx.call_values("str", [value], args.ctx);
    }
    match value {
        Value::Str(_) => Ok(value),
        other => {
            let text = other.to_text(cx.text_max())?;
            cx.text(text)
        }
    }
}

/// Returns the error of Python YAQL for joining a value that is not a string.
pub(in crate::stdlib) fn not_a_string(index: usize, value: &Value) -> Box<Error> {
    let message = format!("sequence item {index}: expected str instance, {} found", value.type_name());
    Box::new(Error::kind(message))
}
