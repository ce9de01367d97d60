use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};

use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Repeats a list; the operands may be in either order. The result is empty if the count is zero or negative. Fails with MemoryQuotaExceededException, before allocating, if the result would be too large.",
    overloads: &[
        ("f #operator_*(left: seq, right: int)", list_by_int),
        ("f #operator_*(left: int, right: seq)", int_by_list),
    ],
    examples: &[
        ("[a, b] * 2", "[\"a\", \"b\", \"a\", \"b\"]"),
        ("3 * [0]", "[0, 0, 0]"),
        ("[a] * -1", "[]"),
        ("[a, b, c] * 1000000000", "MemoryQuotaExceededException"),
        ("[a] * 1.5", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn list_by_int(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    repeat(cx, args, 0, 1)
}

fn int_by_list(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    repeat(cx, args, 1, 0)
}

fn repeat(cx: &mut Cx<'_>, args: &Args<'_>, list: usize, count: usize) -> Result<Value> {
    const EMPTY_LIST: u8 = 56;
    let list = args.peek(list);
    let Some(seq) = list.as_seq() else { return Ok(Value::Null) };
    // Python YAQL estimates one header too many per repetition and subtracts the same number of empty lists,
    // so that large negative counts yield large sizes.
    let times = args.big_int(count);
    let headers = (BigInt::from(1) - &times) * EMPTY_LIST;
    let whole = &headers + &times * list.shallow_size();
    cx.check_bytes(bytes(&headers))?;
    cx.check_bytes(bytes(&whole))?;
    let Some(times) = times.to_i64() else {
        return Err(Box::new(Error::overflow("cannot fit 'int' into an index-sized integer")));
    };
    let times = if seq.is_empty() { 0 } else { u64::try_from(times).unwrap_or(0) };
    let len = times.saturating_mul(seq.len() as u64);
    let size = len.saturating_mul(24);
    cx.check_bytes(len.saturating_mul(8))?;
    cx.charge(size)?;
    cx.steps(len)?;
    let mut items = Vec::with_capacity(usize::try_from(len).unwrap_or(0));
    for _ in 0..times {
        items.extend_from_slice(seq);
    }
    match list {
        Value::Tuple(_) => cx.tuple(items),
        _ => cx.list(items),
    }
}

/// Converts a size to bytes, saturated to the range of `u64`.
fn bytes(size: &BigInt) -> u64 {
    size.to_u64().unwrap_or(if size.is_negative() { 0 } else { u64::MAX })
}

#[cfg(test)]
mod tests {
    use crate::stdlib::testing::evaluate;

    #[test]
    fn size_is_checked_before_allocation() {
        for (expression, result) in [
            ("[1] * -2000000", "MemoryQuotaExceededException"),
            ("[1] * 100000000", "MemoryQuotaExceededException"),
            ("[1] * 100000000000000000000000", "OverflowError"),
            ("[1, 2, 3] * 100000000000000000000000", "MemoryQuotaExceededException"),
            ("[] * 100000000000000000000000", "OverflowError"),
            ("[] * 9000000000000000000", "[]"),
            ("([1].insert(0, 2) * 2) = [2, 1, 2, 1]", "false"),
            ("true * [1]", "[1]"),
        ] {
            assert_eq!(evaluate(expression), result, "{expression}");
        }
    }
}
