//! Conditional evaluation: only the selected expressions are evaluated.

functions! {
    // sorted
    coalesce,
    examine,
    select_all_cases,
    select_case,
    switch,
    switch_case,
    // end sorted
}
