use crate::pytext::python_size_of_str;

use crate::stdlib::prelude::*;
use crate::stdlib::strings::support::{reserve, wide};

pub(super) static FUNCTION: Builtin = Builtin {
    module: "strings",
    doc: "Repeats a string; the operands may be in either order. The result is empty if the count is zero or negative. Fails with MemoryQuotaExceededException, before allocating, if the result would be too large.",
    overloads: &[
        ("f #operator_*(left: string, right: int)", string_by_int),
        ("f #operator_*(left: int, right: string)", int_by_string),
    ],
    examples: &[
        ("'ab' * 3", r#""ababab""#),
        ("2 * '-'", r#""--""#),
        ("ab * -1", r#""""#),
        ("ab * true", r#""ab""#),
        ("ab * 1000000000", "MemoryQuotaExceededException"),
        ("ab * 1.5", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn string_by_int(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    repeat(cx, args.str(0), args.peek(1))
}

fn int_by_string(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    repeat(cx, args.str(1), args.peek(0))
}

fn repeat(cx: &mut Cx<'_>, text: &str, times: &Value) -> Result<Value> {
    let fits = !matches!(times, Value::BigInt(_));
    let times = wide(times).clamp(-COUNT_BOUND, COUNT_BOUND);
    check_quota(cx, text, times)?;
    if !fits {
        return Err(Box::new(Error::overflow("cannot fit 'int' into an index-sized integer")));
    }
    let times = usize::try_from(times).unwrap_or(0);
    if text.is_empty() || times == 0 {
        return cx.text("");
    }
    reserve(cx, text.len().saturating_mul(times))?;
    Ok(Value::str(text.repeat(times)))
}

/// Maximum count: beyond every machine word, and small enough for the estimate not to overflow.
const COUNT_BOUND: i128 = 1 << 80;

/// Checks the size estimate of Python YAQL, which subtracts the size of an empty string per repetition. It
/// also rejects large negative counts.
fn check_quota(cx: &Cx<'_>, text: &str, times: i128) -> Result<()> {
    const EMPTY: i128 = 49;
    let check = |bytes: i128| cx.check_bytes(u64::try_from(bytes.max(0)).unwrap_or(u64::MAX));
    let without = (1 - times) * EMPTY;
    check(without)?;
    check(without + times * i128::from(python_size_of_str(text)))
}
