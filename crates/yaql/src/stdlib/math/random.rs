use num_bigint::{BigInt, Sign};
use num_traits::Signed;

use super::cost;
use crate::pytext::{float_to_int, parse_int};
use crate::stdlib::prelude::*;
use crate::value::number;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "math",
    doc: "Returns a random float that is at least 0 and less than 1. With two integers, returns a random integer in that range, including both ends. Fails with ValueError if the range is empty or a bound is not an integer.",
    overloads: &[("f random()", random), ("f random(from: any, to: any)", random_between)],
    examples: &[
        ("random() < 1", "true"),
        ("random(4, 4)", "4"),
        ("random(1, 6) in [1, 2, 3, 4, 5, 6]", "true"),
        ("random(2, 1)", "ValueError"),
        ("random(0.5, 1)", "ValueError"),
    ],
    purity: Purity::Impure,
};

fn random(cx: &mut Cx<'_>, _: &mut Args<'_>) -> Result<Value> {
    // Uses 53 bits, the precision of a float, so that all results are equally likely.
    const UNIT: f64 = 1.0 / (1_u64 << 53) as f64;
    Ok(Value::Float((cx.host.random_bits() >> 11) as f64 * UNIT))
}

fn random_between(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let (from, to) = (args.peek(0), args.peek(1));
    let after = successor(to)?;
    let start = to_integer(from, "non-integer arg 1 for randrange()")?;
    let stop = to_integer(&after, "non-integer stop for randrange()")?;
    let width = &stop - &start;
    if !width.is_positive() {
        let message = format!("empty range for randrange() ({start}, {stop}, {width})");
        return Err(Box::new(Error::value(message)));
    }
    cost::room(cx, width.bits())?;
    let pick = below(cx, &width)?;
    Ok(Value::int(start + pick))
}

/// Returns `to + 1`, since Python YAQL includes the end by adding one. Fails for types that do not support
/// it; large floats are unchanged.
fn successor(to: &Value) -> Result<Value> {
    let name = to.type_name();
    let message = match to {
        Value::Bool(_) | Value::Int(_) | Value::BigInt(_) => {
            return Ok(Value::int(number::to_big(to) + 1_u32));
        }
        Value::Float(number) => return Ok(Value::Float(number + 1.0)),
        Value::Str(_) | Value::Tuple(_) | Value::List(_) => {
            format!("can only concatenate {name} (not \"int\") to {name}")
        }
        _ => format!("unsupported operand type(s) for +: '{name}' and 'int'"),
    };
    Err(Box::new(Error::kind(message)))
}

fn to_integer(value: &Value, message_if_fractional: &str) -> Result<BigInt> {
    let fraction = || Box::new(Error::value(message_if_fractional));
    match value {
        Value::Bool(_) | Value::Int(_) | Value::BigInt(_) => Ok(number::to_big(value)),
        Value::Float(number) => {
            let integer = float_to_int(*number)?;
            if number.fract() == 0.0 { Ok(integer) } else { Err(fraction()) }
        }
        // As in Python YAQL, text is parsed first and then rejected.
        Value::Str(text) => {
            parse_int(text)?;
            Err(fraction())
        }
        other => {
            let name = other.type_name();
            let message = "int() argument must be a string, a bytes-like object or a real number, not";
            Err(Box::new(Error::kind(format!("{message} '{name}'"))))
        }
    }
}

/// Returns a random integer below `width` by scaling down a number with 64 extra bits. The bias is negligible
/// and, unlike rejection sampling, this terminates with every source of bits.
fn below(cx: &mut Cx<'_>, width: &BigInt) -> Result<BigInt> {
    let words = width.bits().div_ceil(64) + 1;
    cost::multiply(cx, words * 64, width.bits())?;
    cx.steps(words)?;
    let bytes: Vec<u8> = (0..words).flat_map(|_| cx.host.random_bits().to_le_bytes()).collect();
    Ok((BigInt::from_bytes_le(Sign::Plus, &bytes) * width) >> (words * 64))
}

#[cfg(test)]
mod tests {
    use crate::stdlib::testing::evaluate;

    #[test]
    fn ranges() {
        let cases = [
            ("random(-3, -3)", "-3"),
            ("random(4.0, 4.0)", "4"),
            ("random(true, true)", "1"),
            ("random(pow(10, 40), pow(10, 40))", "10000000000000000000000000000000000000000"),
            ("isInteger(random(0, pow(10, 40)))", "true"),
            ("random(1, 0)", "ValueError"),
            ("random(0, 0.5)", "ValueError"),
            ("random('1', 2)", "ValueError"),
            ("random(1, '2')", "TypeError"),
            ("random(1, null)", "TypeError"),
            ("random(null, 1)", "TypeError"),
            ("random(1, float(inf))", "OverflowError"),
        ];
        for (expression, expected) in cases {
            assert_eq!(evaluate(expression), expected, "{expression}");
        }
    }
}
