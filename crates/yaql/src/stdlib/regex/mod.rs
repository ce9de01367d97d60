//! Regular expressions in Python syntax.

mod match_iter;
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
