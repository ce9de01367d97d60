//! What is tried when the rest of the library does not fit: properties.

functions! {
    // sorted
    operator_dot,
    // end sorted
}
