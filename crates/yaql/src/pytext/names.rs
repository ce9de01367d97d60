//! Lookup of characters by Unicode name.

use super::chars::{is_format, is_printable, is_space};

/// Formal aliases of Unicode 14.0, which the name table lacks: one `NAME;HEX` per line.
const ALIASES: &str = include_str!("name_aliases.txt");

const HANGUL: &str = "HANGUL SYLLABLE ";
const IDEOGRAPH: &str = "CJK UNIFIED IDEOGRAPH-";

/// Returns the character that `\N{name}` denotes. Names and aliases are case-insensitive; named sequences are
/// not supported.
///
/// Matches two quirks of Python: algorithmic names (Hangul syllables, unified ideographs) must be in
/// upper case, and Tangut ideographs have no names.
pub fn lookup_name(name: &str) -> Option<char> {
    if !name.is_ascii() {
        return None;
    }
    if let Some(digits) = name.strip_prefix(IDEOGRAPH) {
        return ideograph(digits);
    }
    if let Some(letters) = name.strip_prefix(HANGUL) {
        // The table would also accept lower case here.
        return if letters.bytes().all(|b| b.is_ascii_uppercase()) { table_name(name) } else { None };
    }
    let character = table_name(name).or_else(|| alias(name))?;
    (!is_computed(character)).then_some(character)
}

fn table_name(name: &str) -> Option<char> {
    let character = unicode_names2::character(name)?;
    // The table is newer than Unicode 14; characters added since then count as unnamed.
    (is_printable(character) || is_format(character) || is_space(character)).then_some(character)
}

fn alias(name: &str) -> Option<char> {
    let line = ALIASES
        .lines()
        .find(|line| line.split_once(';').is_some_and(|(alias, _)| alias.eq_ignore_ascii_case(name)))?;
    let (_, code) = line.split_once(';')?;
    char::from_u32(u32::from_str_radix(code, 16).ok()?)
}

/// Parses four or five upper-case hexadecimal digits; leading zeros are allowed.
fn ideograph(digits: &str) -> Option<char> {
    let well_formed =
        matches!(digits.len(), 4 | 5) && digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'A'..=b'F'));
    if !well_formed {
        return None;
    }
    let character = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
    is_unified_ideograph(character).then_some(character)
}

/// Reports whether a character has no entry in Python's name table.
fn is_computed(c: char) -> bool {
    matches!(c, '\u{ac00}'..='\u{d7a3}' | '\u{17000}'..='\u{187f7}' | '\u{18d00}'..='\u{18d08}')
        || is_unified_ideograph(c)
}

fn is_unified_ideograph(c: char) -> bool {
    matches!(c,
        '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{20000}'..='\u{2a6df}'
        | '\u{2a700}'..='\u{2b738}' | '\u{2b740}'..='\u{2b81d}' | '\u{2b820}'..='\u{2cea1}'
        | '\u{2ceb0}'..='\u{2ebe0}' | '\u{30000}'..='\u{3134a}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let cases: &[(&str, Option<char>)] = &[
            ("LATIN SMALL LETTER A", Some('a')),
            ("latin Small letter a", Some('a')),
            ("latinsmallletter a", None),
            ("LATIN  SMALL LETTER A", None),
            (" LATIN SMALL LETTER A", None),
            ("LATIN SMALL LETTER A\0", None),
            ("LATIN \u{17f}MALL LETTER A", None),
            ("BELL", Some('🔔')),
            ("alert", Some('\x07')),
            ("NULL", Some('\0')),
            ("zwsp", Some('\u{200b}')),
            ("NO-BREAK SPACE", Some('\u{a0}')),
            ("LINE SEPARATOR", Some('\u{2028}')),
            ("EM", None), // an alias since Unicode 15
            ("LATIN SMALL LETTER GHA", Some('ƣ')),
            ("LATIN SMALL LETTER R WITH TILDE", None),
            ("LATIN CAPITAL LETTER A WITH MACRON AND GRAVE", None), // a named sequence
            ("HANGUL SYLLABLE GAG", Some('각')),
            ("HANGUL SYLLABLE A", Some('아')),
            ("hangul syllable gag", None),
            ("HANGUL SYLLABLE ", None),
            ("HANGUL SYLLABLE GAX", None),
            ("CJK UNIFIED IDEOGRAPH-4E00", Some('一')),
            ("CJK UNIFIED IDEOGRAPH-04E00", Some('一')),
            ("CJK UNIFIED IDEOGRAPH-4e00", None),
            ("cjk unified ideograph-4E00", None),
            ("CJK UNIFIED IDEOGRAPH-", None),
            ("CJK UNIFIED IDEOGRAPH-31350", None), // came with Unicode 15
            ("CJK COMPATIBILITY IDEOGRAPH-F900", Some('\u{f900}')),
            ("TANGUT IDEOGRAPH-17000", None),
            ("SHAKING FACE", None), // came with Unicode 15
            ("<control>", None),
            ("", None),
            ("-", None),
        ];
        for &(name, expected) in cases {
            assert_eq!(lookup_name(name), expected, "{name:?}");
        }
        assert_eq!(lookup_name(&"A".repeat(100_000)), None);
    }
}
