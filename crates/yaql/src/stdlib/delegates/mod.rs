//! Functions as values, for engines that allow them.

functions! {
    // sorted
    invoke,
    lambda,
    // end sorted
}
