use num_bigint::Sign;

use super::arithmetic;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "math",
    doc: "Returns the absolute value of a number.",
    overloads: &[("f abs(op: number)", abs)],
    examples: &[
        ("abs(-12)", "12"),
        ("abs(1.25)", "1.25"),
        ("abs(-9223372036854775808)", "9223372036854775808"),
        ("abs(null)", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn abs(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    match args.peek(0) {
        Value::Float(number) => Ok(Value::Float(number.abs())),
        Value::Int(0..) => Ok(args.value(0)),
        Value::BigInt(number) if number.sign() == Sign::Plus => Ok(args.value(0)),
        negative => arithmetic::negate(cx, negative),
    }
}
