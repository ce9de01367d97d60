use super::cost;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "math",
    doc: "An integer with its bits moved to the left, that is, times a power of two. A negative count is an error, and so is a result that would not fit the memory quota.",
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

/// Counts of more bits are beyond the digits, of 30 bits each, that the reference can count.
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
