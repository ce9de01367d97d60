//! Cost of operations on large integers, charged in advance, so that a short expression cannot use unbounded
//! time or memory.

use crate::stdlib::prelude::*;

/// Number of operations on 64-bit words that take about as long as one step.
const WORDS_PER_STEP: u64 = 16;

/// Returns the length of an integer in bits, without its sign.
pub(in crate::stdlib) fn bits(value: &Value) -> u64 {
    match value {
        Value::Int(number) => u64::from(64 - number.unsigned_abs().leading_zeros()),
        Value::BigInt(number) => number.bits(),
        Value::Bool(flag) => u64::from(*flag),
        _ => 0,
    }
}

fn words(bits: u64) -> u64 {
    bits.div_ceil(64)
}

/// Charges for one pass over the bits of a value.
pub(in crate::stdlib) fn linear(cx: &mut Cx<'_>, value: &Value) -> Result<()> {
    match value {
        Value::BigInt(number) => cx.steps(words(number.bits()) / WORDS_PER_STEP),
        _ => Ok(()),
    }
}

/// Charges for creating an integer of about this many bits.
pub(super) fn room(cx: &mut Cx<'_>, bits: u64) -> Result<()> {
    if bits < 64 {
        return Ok(());
    }
    // The size estimated by Python YAQL: 4 bytes per 30 bits.
    cx.check_bytes(bits.div_ceil(30).saturating_mul(4).saturating_add(24))?;
    cx.charge(words(bits) * 8 + 48)?;
    cx.steps(words(bits) / WORDS_PER_STEP)
}

/// Charges for multiplying two integers.
pub(super) fn multiply(cx: &mut Cx<'_>, a: u64, b: u64) -> Result<()> {
    let (short, long) = (words(a.min(b)), words(a.max(b)));
    // Long integers are multiplied with subquadratic algorithms.
    const SCHOOLBOOK_WORDS: u64 = 32;
    let per_word = if short <= SCHOOLBOOK_WORDS { short as f64 } else { 4.0 * (short as f64).powf(0.6) };
    cx.steps((long as f64 * per_word) as u64 / WORDS_PER_STEP)
}

/// Charges for dividing two integers.
pub(super) fn divide(cx: &mut Cx<'_>, dividend: u64, divisor: u64) -> Result<()> {
    let (dividend, divisor) = (words(dividend), words(divisor));
    let rounds = dividend.saturating_sub(divisor) + 1;
    cx.steps(rounds.saturating_mul(divisor).saturating_add(dividend) / WORDS_PER_STEP)
}

/// Charges for modular exponentiation.
pub(super) fn modular_power(cx: &mut Cx<'_>, exponent: u64, modulus: u64) -> Result<()> {
    let words = words(modulus);
    cx.steps(exponent.saturating_mul(words).saturating_mul(words).saturating_mul(4) / WORDS_PER_STEP)
}

/// Charges for computing a modular inverse.
pub(super) fn modular_inverse(cx: &mut Cx<'_>, modulus: u64) -> Result<()> {
    cx.steps(modulus.saturating_mul(words(modulus)).saturating_mul(8) / WORDS_PER_STEP)
}
