//! Functions as values, for engines with delegates enabled.

functions! {
    // sorted
    invoke,
    lambda,
    // end sorted
}
