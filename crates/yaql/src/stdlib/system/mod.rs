//! Variables, contexts, calls and member access.

functions! {
    // sorted
    assert,
    call,
    def,
    get_context_data,
    let_,
    operator_arrow,
    operator_dot,
    operator_safe_dot,
    unpack,
    with,
    // end sorted
}
