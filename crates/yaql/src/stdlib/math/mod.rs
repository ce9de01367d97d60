//! Numbers: arithmetic, comparison, bitwise operations, conversion and rounding.

mod arithmetic;
pub(super) mod cost;

functions! {
    // sorted
    abs,
    bitwise_and,
    bitwise_not,
    bitwise_or,
    bitwise_xor,
    float,
    int,
    is_integer,
    is_number,
    max,
    min,
    operator_add,
    operator_div,
    operator_ge,
    operator_gt,
    operator_le,
    operator_lt,
    operator_mod,
    operator_mul,
    operator_sub,
    pow,
    random,
    round,
    shift_bits_left,
    shift_bits_right,
    sign,
    unary_minus,
    unary_plus,
    // end sorted
}
