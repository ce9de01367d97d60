use crate::pytext::python_size_of_str;

use crate::stdlib::prelude::*;
use crate::stdlib::strings::support::{reserve, wide};

pub(super) static FUNCTION: Builtin = Builtin {
    module: "strings",
    doc: "A string repeated as often as the number says, on either side; nothing for zero or less. The length is checked against the memory quota before anything is built.",
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
    let times = wide(times).clamp(-FAR, FAR);
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

/// Beyond every count that fits a machine word, and small enough to multiply.
const FAR: i128 = 1 << 80;

/// The reference's estimate: that many empty strings fewer, and that many texts. It makes a large
/// negative count too much as well.
fn check_quota(cx: &Cx<'_>, text: &str, times: i128) -> Result<()> {
    const EMPTY: i128 = 49;
    let check = |bytes: i128| cx.check_bytes(u64::try_from(bytes.max(0)).unwrap_or(u64::MAX));
    let without = (1 - times) * EMPTY;
    check(without)?;
    check(without + times * i128::from(python_size_of_str(text)))
}
