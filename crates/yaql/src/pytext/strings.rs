//! Methods of Python strings: searching, slicing, stripping and replacing.

use std::borrow::Cow;

use super::chars::is_space;

/// Returns the number of code points.
pub fn len(text: &str) -> usize {
    text.chars().count()
}

/// Returns `sys.getsizeof(text)`: a header plus one, two or four bytes per code point, depending on the
/// widest code point.
pub fn python_size_of_str(text: &str) -> u64 {
    // The maximum byte is the lead byte of the widest character: lead bytes exceed continuation bytes and
    // grow with the code point.
    let widest = text.bytes().max().unwrap_or(0);
    let count = || len(text) as u64;
    match widest {
        0..=0x7f => 49 + text.len() as u64,
        0x80..=0xc3 => 73 + count(),
        0xc4..=0xef => 74 + 2 * count(),
        _ => 76 + 4 * count(),
    }
}

/// Returns the byte offset of code point `position`, or the length of the text if there is none.
fn byte_position(text: &str, position: usize) -> usize {
    let Some(before) = position.checked_sub(1) else { return 0 };
    let mut chars = text.chars();
    chars.nth(before);
    text.len() - chars.as_str().len()
}

/// Converts a slice index: negative indexes count from the end, bounded below by 0.
fn from_start(index: i64, length: usize) -> usize {
    let magnitude = usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX);
    if index < 0 { length.saturating_sub(magnitude) } else { magnitude }
}

/// Returns `text[start:end]`.
pub fn slice(text: &str, start: i64, end: Option<i64>) -> &str {
    window(text, start, end).map_or("", |(_, part)| part)
}

/// Returns the start position and the text of a slice; `None` if the start is after the end of the slice or
/// of the text.
fn window(text: &str, start: i64, end: Option<i64>) -> Option<(usize, &str)> {
    if start == 0 && end.is_none() {
        return Some((0, text));
    }
    let length = len(text);
    let start = from_start(start, length);
    let end = end.map_or(length, |end| from_start(end, length)).min(length);
    if start > end {
        return None;
    }
    if length == text.len() {
        return Some((start, &text[start..end]));
    }
    let tail = &text[byte_position(text, start)..];
    Some((start, &tail[..byte_position(tail, end - start)]))
}

/// Implements the `substring` function of the language. A negative start counts from the end, and a negative
/// length means the rest of the text. The result is then sliced with the rules of Python, so a start that is
/// still negative counts from the end again.
pub fn substring(text: &str, start: i64, length: i64) -> &str {
    if start >= 0 && length < 0 {
        return slice(text, start, None);
    }
    let total = len(text) as i64;
    let length = if length < 0 { total } else { length };
    let start = if start < 0 { start.saturating_add(total) } else { start };
    slice(text, start, Some(start.saturating_add(length)))
}

/// Returns `text.find(sub, start, end)`: the first position, or -1.
pub fn find(text: &str, sub: &str, start: i64, end: Option<i64>) -> i64 {
    position(text, start, end, |part| part.find(sub))
}

/// Returns `text.rfind(sub, start, end)`: the last position, or -1.
pub fn rfind(text: &str, sub: &str, start: i64, end: Option<i64>) -> i64 {
    position(text, start, end, |part| part.rfind(sub))
}

fn position(text: &str, start: i64, end: Option<i64>, search: impl Fn(&str) -> Option<usize>) -> i64 {
    let position = window(text, start, end)
        .and_then(|(offset, part)| search(part).map(|byte| offset + len(&part[..byte])));
    position.map_or(-1, |position| position as i64)
}

/// Returns `text.strip(chars)`; strips whitespace if `chars` is `None`.
pub fn strip<'t>(text: &'t str, chars: Option<&str>) -> &'t str {
    match chars {
        None => text.trim_matches(is_space),
        Some(chars) => {
            let set = CharSet::new(chars);
            text.trim_matches(|c| set.contains(c))
        }
    }
}

/// Returns `text.lstrip(chars)`.
pub fn lstrip<'t>(text: &'t str, chars: Option<&str>) -> &'t str {
    match chars {
        None => text.trim_start_matches(is_space),
        Some(chars) => {
            let set = CharSet::new(chars);
            text.trim_start_matches(|c| set.contains(c))
        }
    }
}

/// Returns `text.rstrip(chars)`.
pub fn rstrip<'t>(text: &'t str, chars: Option<&str>) -> &'t str {
    match chars {
        None => text.trim_end_matches(is_space),
        Some(chars) => {
            let set = CharSet::new(chars);
            text.trim_end_matches(|c| set.contains(c))
        }
    }
}

/// A set of characters with fast lookup, so that stripping is linear in the text for any number of
/// characters.
struct CharSet {
    ascii: u128,
    /// Sorted characters outside ASCII.
    others: Vec<char>,
}

impl CharSet {
    fn new(chars: &str) -> Self {
        let mut set = Self { ascii: 0, others: Vec::new() };
        for c in chars.chars() {
            if c.is_ascii() {
                set.ascii |= 1 << u32::from(c);
            } else {
                set.others.push(c);
            }
        }
        set.others.sort_unstable();
        set
    }

    fn contains(&self, c: char) -> bool {
        if c.is_ascii() { self.ascii >> u32::from(c) & 1 == 1 } else { self.others.binary_search(&c).is_ok() }
    }
}

/// Converts a replacement count; negative means unlimited.
fn limit(count: i64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// Returns `text.replace(old, new, count)`. An empty `old` matches before every code point and at the end.
pub fn replace<'t>(text: &'t str, old: &str, new: &str, count: i64) -> Cow<'t, str> {
    if count == 0 || !text.contains(old) {
        return Cow::Borrowed(text);
    }
    // Rust matches an empty pattern at the same positions.
    Cow::Owned(text.replacen(old, new, limit(count)))
}

/// Returns the length in bytes of the result of [`replace`], to check limits before building it.
pub fn replaced_len(text: &str, old: &str, new: &str, count: i64) -> usize {
    let hits = text.matches(old).take(limit(count)).count();
    (text.len() - hits * old.len()).saturating_add(hits.saturating_mul(new.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let cases = [
            ("", 0, 49),
            ("abc", 3, 52),
            ("é", 1, 74),
            ("aÿ", 2, 75),
            ("Ā", 1, 76),
            ("€a", 2, 78),
            ("a😀", 2, 84),
        ];
        for (text, length, size) in cases {
            assert_eq!((len(text), python_size_of_str(text)), (length, size), "{text}");
        }
    }

    #[test]
    fn slices() {
        let cases = [
            ("abcdef", 1, Some(3), "bc"),
            ("abcdef", -2, None, "ef"),
            ("abcdef", -10, Some(-4), "ab"),
            ("abcdef", 4, Some(2), ""),
            ("abcdef", 6, None, ""),
            ("abcdef", i64::MIN, Some(i64::MAX), "abcdef"),
            ("abcdef", i64::MAX, Some(i64::MIN), ""),
            ("aé€😀z", 1, Some(4), "é€😀"),
            ("aé€😀z", -2, None, "😀z"),
            ("aé€😀z", 2, Some(2), ""),
        ];
        for (text, start, end, expected) in cases {
            assert_eq!(slice(text, start, end), expected, "{text}[{start}:{end:?}]");
        }
    }

    #[test]
    fn substrings() {
        let cases = [
            ("deploy", 2, -1, "ploy"),
            ("deploy", -3, 2, "lo"),
            ("deploy", -3, -1, "loy"),
            ("deploy", 1, 99, "eploy"),
            ("deploy", 9, -1, ""),
            ("abcdef", -10, 3, "cde"),
            ("abcdef", -10, -1, ""),
            ("abcdef", -10, i64::MAX, "cdef"),
            ("abcdef", 2, i64::MAX, "cdef"),
            ("abcdef", i64::MIN, 2, ""),
            ("héllo", 1, 2, "él"),
        ];
        for (text, start, length, expected) in cases {
            assert_eq!(substring(text, start, length), expected, "{text} {start} {length}");
        }
    }

    #[test]
    fn searches() {
        // Test cases: text, substring, start, end, expected first and last position.
        let cases = [
            ("banana", "an", 0, None, 1, 3),
            ("banana", "an", 2, None, 3, 3),
            ("banana", "an", 2, Some(4), -1, -1),
            ("banana", "an", 0, Some(4), 1, 1),
            ("banana", "an", -3, None, 3, 3),
            ("banana", "z", 0, None, -1, -1),
            ("abc", "", 0, None, 0, 3),
            ("abc", "", 3, None, 3, 3),
            ("abc", "", 4, None, -1, -1),
            ("abc", "", 2, Some(1), -1, -1),
            ("abc", "", 1, Some(2), 1, 2),
            ("", "", 0, None, 0, 0),
            ("", "", -1, None, 0, 0),
            ("é€😀é€", "é", 0, None, 0, 3),
            ("é€😀é€", "é", 1, Some(-1), 3, 3),
            ("é€😀é€", "", -1, None, 4, 5),
            ("aaaa", "aaa", 0, Some(i64::MAX), 0, 1),
        ];
        for (text, sub, start, end, first, last) in cases {
            let got = (find(text, sub, start, end), rfind(text, sub, start, end));
            assert_eq!(got, (first, last), "{text} {sub} {start} {end:?}");
        }
    }

    #[test]
    fn strips() {
        let cases = [
            (" \u{1c}q \u{3000}", None, "q", "q \u{3000}", " \u{1c}q"),
            ("xyax", Some("xy"), "a", "ax", "xya"),
            (" a ", Some(""), " a ", " a ", " a "),
            ("éxé", Some("éz"), "x", "xé", "éx"),
            ("\u{200b}", None, "\u{200b}", "\u{200b}", "\u{200b}"),
        ];
        for (text, chars, both, left, right) in cases {
            let got = (strip(text, chars), lstrip(text, chars), rstrip(text, chars));
            assert_eq!(got, (both, left, right), "{text:?}");
        }
    }

    #[test]
    fn replacements() {
        let cases = [
            ("banana", "an", "AN", 1, "bANana"),
            ("banana", "an", "", -1, "ba"),
            ("banana", "x", "y", -1, "banana"),
            ("banana", "a", "o", 0, "banana"),
            ("ab", "", "-", -1, "-a-b-"),
            ("ab", "", "-", 2, "-a-b"),
            ("é😀", "", "-", 9, "-é-😀-"),
            ("", "", "x", -1, "x"),
            ("", "", "x", 1, "x"),
            ("", "a", "x", -1, ""),
            ("aaa", "aa", "b", -1, "ba"),
        ];
        for (text, old, new, count, expected) in cases {
            assert_eq!(replace(text, old, new, count), expected, "{text} {old} {new} {count}");
            assert_eq!(replaced_len(text, old, new, count), expected.len());
        }
    }
}
