//! Python's text and number semantics: pure functions on `&str`, `f64` and `BigInt`.
//!
//! Strings are sequences of code points: positions, counts and lengths are in code points. Results that
//! depend on the Unicode version (classes, names, case) are those of Unicode 14.0. Lone surrogates, which
//! Python allows, cannot occur; an escape for a surrogate becomes U+FFFD.

mod case;
mod chars;
mod escapes;
mod names;
mod numbers;
mod power;
mod repr;
mod rounding;
mod split;
mod strings;
mod tables;

pub use case::{camel_case, lower, upper};
pub use chars::{decimal_value, is_letter_start, is_printable, is_space, is_word};
pub use escapes::decode_escapes;
pub use names::lookup_name;
pub use numbers::{
    ParsedInt, cmp_i64_float, cmp_int_float, float_to_int, int_to_float, parse_float, parse_int,
};
pub use power::{float_floor_mod, float_pow, pow_mod};
pub use repr::{MAX_INT_DIGITS, format_float, format_int, hex_int, python_repr, write_float, write_quoted};
pub use rounding::{round_float, round_int};
pub use split::{rsplit, split};
pub use strings::{
    find, len, lstrip, python_size_of_str, replace, replaced_len, rfind, rstrip, slice, strip, substring,
};
