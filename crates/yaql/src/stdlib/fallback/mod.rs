//! Functions that are tried if no other overload matches: properties.

functions! {
    // sorted
    operator_dot,
    // end sorted
}
