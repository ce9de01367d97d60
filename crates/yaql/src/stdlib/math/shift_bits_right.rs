use super::cost;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "math",
    doc: "Shifts an integer right, dividing it by a power of two and rounding down. Fails with ValueError if the count is negative.",
    overloads: &[("f shiftBitsRight(value: int, bitsNumber: int)", shift_bits_right)],
    examples: &[
        ("shiftBitsRight(45, 3)", "5"),
        ("shiftBitsRight(-45, 3)", "-6"),
        ("shiftBitsRight(-45, 999)", "-1"),
        ("shiftBitsRight(45, -3)", "ValueError"),
    ],
    purity: Purity::Pure,
};

fn shift_bits_right(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let count = args.int(1);
    let Ok(count) = u64::try_from(count) else { return Err(Box::new(Error::value("negative shift count"))) };
    match args.peek(0) {
        Value::BigInt(number) => {
            cost::room(cx, number.bits())?;
            Ok(Value::int(&**number >> count))
        }
        // Shifting by more than the width leaves the sign.
        _ => Ok(Value::Int(args.int(0) >> count.min(63))),
    }
}
