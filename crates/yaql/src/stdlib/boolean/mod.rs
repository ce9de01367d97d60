//! Truth: what counts as true, and the operators on it.

functions! {
    // sorted
    bool_,
    is_boolean,
    operator_and,
    operator_or,
    unary_not,
    // end sorted
}
