use super::cost;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "math",
    doc: "Shifts an integer left, multiplying it by a power of two. Fails with ValueError if the count is negative, and with MemoryQuotaExceededException or OverflowError if the result would be too large.",
    overloads: &[("f shiftBitsLeft(value: int, bitsNumber: int)", shift_bits_left)],
    examples: &[
        ("shiftBitsLeft(5, 3)", "40"),
        ("shiftBitsLeft(-1, 70)", "-1180591620717411303424"),
        ("shiftBitsLeft(0, 99999999999999)", "0"),
        ("shiftBitsLeft(1, -2)", "ValueError"),
        ("shiftBitsLeft(1, 99999999999999)", "MemoryQuotaExceededException"),
        ("shiftBitsLeft(1, pow(10, 30))", "OverflowError"),
    ],
    purity: Purity::Pure,
};

/// Maximum size of a shift count in bits; larger counts exceed the number of 30-bit digits that Python YAQL
/// can count.
const DIGIT_COUNT_BITS: u64 = 68;

fn shift_bits_left(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let count = args.int(1);
    let Ok(count) = u64::try_from(count) else { return Err(Box::new(Error::value("negative shift count"))) };
    let bits = cost::bits(args.peek(0));
    if bits == 0 {
        return Ok(Value::Int(0));
    }
    if matches!(args.peek(1), Value::BigInt(count) if count.bits() > DIGIT_COUNT_BITS) {
        return Err(Box::new(Error::overflow("too many digits in integer")));
    }
    if bits + count.min(64) < 64 {
        return Ok(Value::Int(args.int(0) << count));
    }
    cost::room(cx, bits.saturating_add(count))?;
    Ok(Value::int(args.big_int(0) << count))
}
