//! Equality, and comparison with null.

mod equality;
mod nulls;

functions! {
    // sorted
    equal,
    not_equal,
    operator_ge,
    operator_gt,
    operator_le,
    operator_lt,
    // end sorted
}
