//! Validation of names, and suggestions for invalid ones.

use stoker_yaql::pytext::camel_case;

/// Keywords of the language, which cannot be names.
const RESERVED: &[&str] = &["and", "false", "in", "mod", "not", "null", "or", "true"];

/// Reports whether a name is a valid function name: a lowercase letter followed by letters and digits.
pub(crate) fn is_camel_case(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric())
        && !RESERVED.contains(&name)
}

/// Reports whether a name is a valid variable name.
pub(crate) fn is_variable(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        && !RESERVED.contains(&name)
}

/// Suggests a fix for an invalid function name.
pub(crate) fn name_help(name: &str) -> String {
    let words: String = name.replace(['-', ' '], "_");
    let corrected = camel_case(words.trim_matches('_')).into_owned();
    let (first, rest) = corrected.split_at(corrected.chars().next().map_or(0, char::len_utf8));
    let corrected = first.to_lowercase() + rest;
    if is_camel_case(&corrected) && corrected != name {
        return format!("function names are in camelCase: `{corrected}`");
    }
    if RESERVED.contains(&name) {
        return "it is a reserved word".to_owned();
    }
    "a name is a lowercase letter followed by letters and digits".to_owned()
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
    fn name_help_suggests_a_valid_name() {
        assert_eq!(name_help("vip_address"), "function names are in camelCase: `vipAddress`");
        assert_eq!(name_help("vip-address"), "function names are in camelCase: `vipAddress`");
        assert_eq!(name_help("Vip"), "function names are in camelCase: `vip`");
        assert_eq!(name_help("not"), "it is a reserved word");
        assert_eq!(name_help("6v"), "a name is a lowercase letter followed by letters and digits");
        assert_eq!(name_help("ä"), "a name is a lowercase letter followed by letters and digits");
    }
}
