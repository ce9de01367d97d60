use num_bigint::{BigInt, Sign};
use num_traits::Pow;

use super::cost;
use crate::pytext::{float_pow, pow_mod};
use crate::stdlib::prelude::*;
use crate::value::number;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "math",
    doc: "Returns a power, or with a third argument the remainder of a power. Integers with a non-negative exponent yield an integer, other arguments a float. The remainder requires integers; a negative exponent then uses the modular inverse, and fails with ValueError if there is none.",
    overloads: &[("f pow(a: number, b: number, c: number? = null)", pow)],
    examples: &[
        ("pow(3, 4)", "81"),
        ("pow(4, -1)", "0.25"),
        ("pow(9, 0.5)", "3.0"),
        ("pow(3, 4, 10)", "1"),
        ("pow(3, -1, 10)", "7"),
        ("pow(0, -2)", "ZeroDivisionError"),
    ],
    purity: Purity::Pure,
};

fn pow(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let (a, b, c) = (args.peek(0), args.peek(1), args.peek(2));
    let is_integer = |value: &Value| matches!(value, Value::Int(_) | Value::BigInt(_));
    if !c.is_null() {
        if !(is_integer(a) && is_integer(b) && is_integer(c)) {
            return Err(Box::new(not_integers(&[a, b, c])));
        }
        return modular(cx, a, b, c);
    }
    match (a, b) {
        (Value::Int(_) | Value::BigInt(_), Value::Int(0..)) => power(cx, a, args.int(1).unsigned_abs()),
        (Value::Int(_) | Value::BigInt(_), Value::BigInt(exponent)) if exponent.sign() == Sign::Plus => {
            huge_power(cx, a, exponent)
        }
        _ => float_pow(number::to_float(a)?, number::to_float(b)?).map(Value::Float),
    }
}

fn not_integers(values: &[&Value]) -> Error {
    if values.iter().any(|value| matches!(value, Value::Float(_))) {
        return Error::kind("pow() 3rd argument not allowed unless all arguments are integers");
    }
    Error::kind("unsupported operand type(s) for pow()")
}

fn modular(cx: &mut Cx<'_>, base: &Value, exponent: &Value, modulus: &Value) -> Result<Value> {
    let bits = cost::bits(modulus);
    cost::divide(cx, cost::bits(base), bits)?;
    cost::modular_inverse(cx, bits)?;
    cost::modular_power(cx, cost::bits(exponent), bits)?;
    cost::room(cx, bits)?;
    pow_mod(&number::to_big(base), &number::to_big(exponent), &number::to_big(modulus)).map(Value::int)
}

fn power(cx: &mut Cx<'_>, base: &Value, exponent: u64) -> Result<Value> {
    if let Value::Int(base) = base {
        let small = u32::try_from(exponent).ok().and_then(|exponent| base.checked_pow(exponent));
        if let Some(result) = small {
            return Ok(Value::Int(result));
        }
        // The only bases whose powers do not grow.
        if matches!(base, -1..=1) {
            return Ok(Value::Int(if exponent.is_multiple_of(2) { base * base } else { *base }));
        }
    }
    // A number of n bits is at least 2^(n-1).
    let bits = (cost::bits(base) - 1).saturating_mul(exponent).saturating_add(1);
    cost::room(cx, bits)?;
    // Approximates exponentiation by squaring: the last squaring and multiplication dominate.
    cost::multiply(cx, bits / 2, bits / 2)?;
    cost::multiply(cx, bits / 2, bits / 2)?;
    Ok(Value::int(number::to_big(base).pow(exponent)))
}

/// Computes a power with an exponent beyond 64 bits, which is feasible only for the bases -1, 0 and 1.
fn huge_power(cx: &mut Cx<'_>, base: &Value, exponent: &BigInt) -> Result<Value> {
    power(cx, base, if exponent.bit(0) { u64::MAX } else { u64::MAX - 1 })
}

#[cfg(test)]
mod tests {
    use crate::stdlib::testing::evaluate;

    #[test]
    fn large_powers_are_bounded() {
        let cases = [
            ("pow(2, 99999999999)", "MemoryQuotaExceededException"),
            ("pow(3, 99999999999999999999999)", "MemoryQuotaExceededException"),
            ("pow(2, 700000000)", "StepLimitExceededException"),
            ("pow(-1, 99999999999999999999999)", "-1"),
            ("pow(-1, 99999999999999999999998)", "1"),
            ("pow(0, 99999999999999999999999)", "0"),
            ("pow(-2, 63)", "-9223372036854775808"),
            ("pow(-2, 64)", "18446744073709551616"),
            ("pow(7, pow(2, 20000), pow(2, 20000) - 1) > 0", "StepLimitExceededException"),
        ];
        for (expression, expected) in cases {
            assert_eq!(evaluate(expression), expected, "{expression}");
        }
    }

    #[test]
    fn invalid_arguments_are_rejected() {
        let cases = [
            ("pow(2.0, 3, 5)", "TypeError"),
            ("pow(2, 3, 5.0)", "TypeError"),
            ("pow(2, 3, 0)", "ValueError"),
            ("pow(2, -1, 4)", "ValueError"),
            ("pow(10.0, 400)", "OverflowError"),
            ("pow(pow(10, 400), -1)", "OverflowError"),
            ("pow(2, null)", "NoMatchingFunctionException"),
        ];
        for (expression, expected) in cases {
            assert_eq!(evaluate(expression), expected, "{expression}");
        }
    }
}
