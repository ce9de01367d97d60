//! Regular expressions in the syntax of Python.

mod matches_of;
mod records;

functions! {
    // sorted
    escape_regex,
    is_regex,
    matches,
    operator_match,
    operator_not_match,
    regex,
    replace,
    replace_by,
    search,
    search_all,
    split,
    // end sorted
}
