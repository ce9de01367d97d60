//! Character classes of Python's `str` methods and regular expressions.

use super::tables::{DECIMAL_ZEROS, FORMAT, PRINTABLE, WORD};

/// Tests membership in an inversion list: inside after an odd number of boundaries.
fn in_list(list: &[u32], c: char) -> bool {
    let code = u32::from(c);
    list.partition_point(|&change| change <= code) % 2 == 1
}

/// Reports whether `\w` matches: a letter, digit or numeral of any script, or the underscore.
pub fn is_word(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphanumeric() || c == '_' } else { in_list(&WORD, c) }
}

/// Reports whether `[^\W\d]` matches: a character that can start a name.
pub fn is_letter_start(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_alphabetic() || c == '_'
    } else {
        in_list(&WORD, c) && decimal_value(c).is_none()
    }
}

/// Returns the value of a decimal digit of any script (`\d`, `str.isdecimal`, `int()`).
pub fn decimal_value(c: char) -> Option<u8> {
    if c.is_ascii() {
        return c.is_ascii_digit().then(|| c as u8 - b'0');
    }
    let code = u32::from(c);
    let run = DECIMAL_ZEROS.partition_point(|&zero| zero <= code).checked_sub(1)?;
    let value = code - DECIMAL_ZEROS.get(run)?;
    (value < 10).then_some(value as u8)
}

/// Reports whether `str.isspace` is true; also the whitespace of `split` and `strip`.
pub fn is_space(c: char) -> bool {
    matches!(c,
        '\t'..='\r' | '\x1c'..=' ' | '\u{85}' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}'
        | '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{3000}')
}

/// Reports whether `str.isprintable` is true: characters that `repr` does not escape.
pub fn is_printable(c: char) -> bool {
    if c.is_ascii() { matches!(c, ' '..='~') } else { in_list(&PRINTABLE, c) }
}

/// Reports whether a character is in category Cf, invisible layout controls.
pub(super) fn is_format(c: char) -> bool {
    in_list(&FORMAT, c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes() {
        // Character, word, letter start, decimal value, space, printable.
        type Case = (char, bool, bool, Option<u8>, bool, bool);
        let cases: &[Case] = &[
            ('a', true, true, None, false, true),
            ('_', true, true, None, false, true),
            ('7', true, false, Some(7), false, true),
            (' ', false, false, None, true, true),
            ('\x1c', false, false, None, true, false),
            ('\x1b', false, false, None, false, false),
            ('\x7f', false, false, None, false, false),
            ('\u{85}', false, false, None, true, false),
            ('\u{a0}', false, false, None, true, false),
            ('\u{ad}', false, false, None, false, false),
            ('é', true, true, None, false, true),
            ('²', true, true, None, false, true), // a digit, but not a decimal one
            ('½', true, true, None, false, true),
            ('Ⅷ', true, true, None, false, true),
            ('٤', true, false, Some(4), false, true),
            ('𝟡', true, false, Some(9), false, true),
            ('\u{301}', false, false, None, false, true), // a combining mark is not a word character
            ('\u{200b}', false, false, None, false, false),
            ('\u{180e}', false, false, None, false, false),
            ('\u{2028}', false, false, None, true, false),
            ('\u{e000}', false, false, None, false, false),
            ('😀', false, false, None, false, true),
            ('\u{1fae8}', false, false, None, false, false), // came with Unicode 15
            ('\u{10ffff}', false, false, None, false, false),
        ];
        for &(c, word, start, decimal, space, printable) in cases {
            let got = (is_word(c), is_letter_start(c), decimal_value(c), is_space(c), is_printable(c));
            assert_eq!(got, (word, start, decimal, space, printable), "{c:?}");
        }
    }

    #[test]
    fn class_sizes() {
        let count = |class: fn(char) -> bool| {
            (0..=u32::from(char::MAX)).filter_map(char::from_u32).filter(|&c| class(c)).count()
        };
        assert_eq!(count(|c| decimal_value(c).is_some()), 660);
        assert_eq!(count(is_space), 29);
        assert_eq!(count(is_word), 133_548);
        assert_eq!(count(is_printable), 144_516);
    }
}
