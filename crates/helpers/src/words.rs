//! Names: what can be one, and what may have been meant.

use stoker_yaql::pytext::camel_case;

/// Words that mean something else where a name stands.
const RESERVED: &[&str] = &["and", "false", "in", "mod", "not", "null", "or", "true"];

/// Whether functions of the language could be called so: a small letter, then letters and digits.
pub(crate) fn is_camel_case(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric())
        && !RESERVED.contains(&name)
}

/// Whether a variable could be called so.
pub(crate) fn is_variable(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        && !RESERVED.contains(&name)
}

/// Advice for a name that cannot be one.
pub(crate) fn name_help(name: &str) -> String {
    let words: String = name.replace(['-', ' '], "_");
    let mended = camel_case(words.trim_matches('_')).into_owned();
    let (first, rest) = mended.split_at(mended.chars().next().map_or(0, char::len_utf8));
    let mended = first.to_lowercase() + rest;
    if is_camel_case(&mended) && mended != name {
        return format!("names are in camelCase: `{mended}`");
    }
    if RESERVED.contains(&name) {
        return "this word means something else in an expression".to_owned();
    }
    "a name is a small letter followed by letters and digits".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_camel_case() {
        for name in ["vip", "vipAddress", "v6", "x"] {
            assert!(is_camel_case(name), "{name}");
        }
        for name in ["", "Vip", "vip_address", "6v", "vip-address", "not", "ä", "a b", "#map"] {
            assert!(!is_camel_case(name), "{name}");
        }
    }

    #[test]
    fn advice_mends_what_can_be_mended() {
        assert_eq!(name_help("vip_address"), "names are in camelCase: `vipAddress`");
        assert_eq!(name_help("vip-address"), "names are in camelCase: `vipAddress`");
        assert_eq!(name_help("Vip"), "names are in camelCase: `vip`");
        assert_eq!(name_help("not"), "this word means something else in an expression");
        assert_eq!(name_help("6v"), "a name is a small letter followed by letters and digits");
        assert_eq!(name_help("ä"), "a name is a small letter followed by letters and digits");
    }
}
