//! What functions on strings have in common: paying for work, and building text within bounds.

use std::fmt::Write as _;
use std::sync::Arc;

use num_traits::{Signed, ToPrimitive};

use crate::stdlib::prelude::*;
use crate::value::number;

/// Counts the work of looking at that many bytes.
pub(in crate::stdlib) fn scan(cx: &mut Cx<'_>, bytes: usize) -> Result<()> {
    cx.steps(bytes as u64 / 32)
}

/// A piece of a text as a value; the text itself if the piece is all of it.
pub(in crate::stdlib) fn part(cx: &mut Cx<'_>, whole: &Arc<str>, part: &str) -> Result<Value> {
    if part.len() == whole.len() { Ok(Value::Str(whole.clone())) } else { cx.text(part) }
}

/// A count that has to fit a machine word, as the reference demands of it.
pub(in crate::stdlib) fn word_sized(count: &Value) -> Result<i64> {
    match count {
        Value::Int(number) => Ok(*number),
        Value::Bool(flag) => Ok(i64::from(*flag)),
        _ => Err(Box::new(Error::overflow("Python int too large to convert to C ssize_t"))),
    }
}

/// An integer for sums of positions: exact, unless it is beyond all reason.
pub(in crate::stdlib) fn wide(number: &Value) -> i128 {
    const FAR: i128 = i128::MAX / 4;
    match number {
        Value::Int(number) => i128::from(*number),
        Value::Bool(flag) => i128::from(*flag),
        other => {
            let number = number::to_big(other);
            number.to_i128().unwrap_or(if number.is_negative() { -FAR } else { FAR }).clamp(-FAR, FAR)
        }
    }
}

/// The position nearest to a number.
pub(in crate::stdlib) fn narrow(number: i128) -> i64 {
    number.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

/// Refuses a text of that many bytes, and counts it if it may be built.
pub(in crate::stdlib) fn reserve(cx: &mut Cx<'_>, bytes: usize) -> Result<()> {
    // The reference takes at least half as many bytes for the same text as UTF-8 does. The exact
    // size is looked at when the text is there.
    cx.check_bytes(bytes as u64 / 2)?;
    cx.charge(bytes as u64)
}

/// Text that grows piece by piece and is paid for as it grows.
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

    /// Adds what the function `str` would make of a value.
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

/// What `str` gives for a value, also where `str` has been given another meaning.
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

/// What the reference says when it puts pieces together of which one is no string.
pub(in crate::stdlib) fn not_a_string(index: usize, value: &Value) -> Box<Error> {
    let message = format!("sequence item {index}: expected str instance, {} found", value.type_name());
    Box::new(Error::kind(message))
}
