//! Strings: sequences of code points.

pub(in crate::stdlib) mod support;

functions! {
    // sorted
    characters,
    concat,
    ends_with,
    hex,
    index_of,
    is_empty,
    is_string,
    join,
    last_index_of,
    len,
    norm,
    operator_add,
    operator_ge,
    operator_gt,
    operator_in,
    operator_le,
    operator_lt,
    operator_mul,
    replace,
    right_split,
    split,
    starts_with,
    str_,
    substring,
    to_char_array,
    to_lower,
    to_upper,
    trim,
    trim_left,
    trim_right,
    // end sorted
}
