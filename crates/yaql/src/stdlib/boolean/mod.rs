//! Boolean conversion and logical operators.

functions! {
    // sorted
    bool_,
    is_boolean,
    operator_and,
    operator_or,
    unary_not,
    // end sorted
}
