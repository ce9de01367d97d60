use super::cost;
use crate::pytext::{round_float, round_int};
use crate::stdlib::prelude::*;
use crate::value::number;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "math",
    doc: "Rounds a number to `ndigits` decimals, or to tens, hundreds and so on if `ndigits` is negative. Ties, by the exact value of the float, are rounded to even. Integers stay integers and floats stay floats.",
    overloads: &[("f round(number: number, ndigits: int = 0)", round)],
    examples: &[
        ("round(0.5)", "0.0"),
        ("round(1.5)", "2.0"),
        ("round(2.345, 2)", "2.35"),
        ("round(1755, -1)", "1760"),
        ("round(1765, -1)", "1760"),
        ("round('1.5')", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn round(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let ndigits = args.int(1);
    match args.value(0) {
        Value::Float(number) => round_float(number, ndigits).map(Value::Float),
        integer if ndigits >= 0 => Ok(integer),
        integer => {
            let bits = cost::bits(&integer);
            // The unit is a power of ten that is not longer than the number; see [`round_int`].
            let unit_bits = ndigits.unsigned_abs().saturating_mul(4).min(bits);
            cost::multiply(cx, unit_bits, unit_bits)?;
            cost::divide(cx, bits, unit_bits)?;
            cost::room(cx, bits)?;
            Ok(Value::int(round_int(&number::to_big(&integer), ndigits)))
        }
    }
}
