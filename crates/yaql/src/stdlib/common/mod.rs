//! Equality of everything, and where null stands in the order of values.

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
