//! Case conversion, and the naming convention based on it.
//!
//! The tables of Rust are newer than Unicode 14. Characters added since then, and mappings to them, are left
//! unchanged.

use std::borrow::Cow;

use super::chars::{is_format, is_printable, is_word};

/// Returns `text.lower()`, with final sigma at the end of words.
pub fn lower(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return lower_ascii(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    // For the final-sigma rule, an unassigned character is neither letter nor mark, like the end of the text.
    while let Some((position, unknown)) = rest.char_indices().find(|&(_, c)| is_unknown(c)) {
        out.push_str(&rest[..position].to_lowercase());
        out.push(unknown);
        rest = &rest[position + unknown.len_utf8()..];
    }
    if out.is_empty() {
        return Cow::Owned(rest.to_lowercase());
    }
    out.push_str(&rest.to_lowercase());
    Cow::Owned(out)
}

fn lower_ascii(text: &str) -> Cow<'_, str> {
    if text.bytes().any(|b| b.is_ascii_uppercase()) {
        Cow::Owned(text.to_ascii_lowercase())
    } else {
        Cow::Borrowed(text)
    }
}

/// Returns `text.upper()`.
pub fn upper(text: &str) -> Cow<'_, str> {
    if !text.is_ascii() {
        let mut out = String::with_capacity(text.len());
        text.chars().for_each(|c| push_upper(&mut out, c));
        return Cow::Owned(out);
    }
    if text.bytes().any(|b| b.is_ascii_lowercase()) {
        Cow::Owned(text.to_ascii_uppercase())
    } else {
        Cow::Borrowed(text)
    }
}

fn push_upper(out: &mut String, c: char) {
    if c.is_ascii() {
        out.push(c.to_ascii_uppercase());
        return;
    }
    let mapped = c.to_uppercase();
    if is_unknown(c) || mapped.clone().any(|m| m != c && is_unknown(m)) {
        out.push(c);
    } else {
        out.extend(mapped);
    }
}

/// Reports whether a character does not affect case conversion: unassigned in Unicode 14, or a control,
/// separator or private-use character. Format characters do affect the final-sigma rule.
fn is_unknown(c: char) -> bool {
    !is_printable(c) && !is_format(c)
}

/// Converts a name to camel case: an underscore that is not the first character is removed and the word
/// character after it is converted to upper case.
pub fn camel_case(name: &str) -> Cow<'_, str> {
    let Some(first) = name.chars().next() else { return Cow::Borrowed(name) };
    if !name[first.len_utf8()..].contains('_') {
        return Cow::Borrowed(name);
    }
    let mut out = String::with_capacity(name.len());
    out.push(first);
    let mut chars = name[first.len_utf8()..].chars().peekable();
    while let Some(c) = chars.next() {
        match chars.next_if(|&next| c == '_' && is_word(next)) {
            Some(next) => push_upper(&mut out, next),
            None => out.push(c),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases() {
        // Test cases: text, expected lower case, expected upper case.
        let cases = [
            ("aB1", "ab1", "AB1"),
            ("Straße", "straße", "STRASSE"),
            ("ÀΣ", "àς", "ÀΣ"),
            ("ΑΣΑ Σ", "ασα σ", "ΑΣΑ Σ"),
            ("ΑΣ\u{ad}Α", "ασ\u{ad}α", "ΑΣ\u{ad}Α"),
            ("ΑΣ.", "ας.", "ΑΣ."),
            ("İ", "i\u{307}", "İ"),
            ("ŉ ﬃ ǆ", "ŉ ﬃ ǆ", "ʼN FFI Ǆ"),
            ("ა", "ა", "Ა"),
            ("ɤ ƛ", "ɤ ƛ", "ɤ ƛ"),                      // got capitals in Unicode 16
            ("\u{10d50}Σ", "\u{10d50}σ", "\u{10d50}Σ"), // a cased letter since Unicode 16
            ("", "", ""),
        ];
        for (text, low, up) in cases {
            assert_eq!(lower(text), low, "{text:?}");
            assert_eq!(upper(text), up, "{text:?}");
        }
        assert!(matches!(lower("abc"), Cow::Borrowed(_)));
        assert!(matches!(upper("ABC"), Cow::Borrowed(_)));
    }

    #[test]
    fn names() {
        let cases = [
            ("is_empty", "isEmpty"),
            ("plain", "plain"),
            ("_private_name", "_privateName"),
            ("__a", "_A"),
            ("a__b", "a_b"),
            ("a___b", "a_B"),
            ("trailing_", "trailing_"),
            ("a_-b", "a_-b"),
            ("x_ß", "xSS"),
            ("x_1", "x1"),
            ("_", "_"),
            ("", ""),
            ("é_é", "éÉ"),
        ];
        for (name, expected) in cases {
            assert_eq!(camel_case(name), expected, "{name}");
        }
    }
}
