//! Choosing between expressions, of which only those needed are evaluated.

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
