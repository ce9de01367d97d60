//! Maps a range of a scalar's value to its source span, for YAML and JSON.
//!
//! Quotes, escapes, indentation and folding make value and source differ, but they preserve the order of
//! non-whitespace characters: the n-th visible character of the value is the n-th visible character of the
//! source, where an escape counts as one character.

use std::ops::Range;

use stoker_diagnostics::Span;

use crate::node::Node;

/// Returns the source span of a byte range of the text of `node`, or the span of the whole node if it cannot
/// be determined.
///
/// Used to report an error inside a text (an expression, a pattern), known by its byte range in the value, at
/// its line and column in the file.
pub fn locate_in_scalar(node: &Node, file_text: &str, piece: Range<usize>) -> Span {
    let (Some(value), raw) = (node.as_str(), node.span.slice(file_text)) else { return node.span };
    let Some(visible) =
        [as_written, single_quoted, double_quoted].iter().find_map(|read| matching(*read, raw, value))
    else {
        return node.span;
    };
    let n_before = n_visible(&value[..value.floor_char_boundary(piece.start)]);
    let n_through = n_visible(&value[..value.ceil_char_boundary(piece.end)]);
    let after_last = visible.last().map_or(0, |last| last.end);
    let start = visible.get(n_before).map_or(after_last, |first| first.start);
    let end = if n_through > n_before { visible[n_through - 1].end } else { start };
    let base = node.span.start.offset as usize;
    Span::in_text(file_text, base + start..base + end)
}

type Visible = Vec<Range<usize>>;

/// Source ranges and the characters they denote.
type Pieces = Vec<(Range<usize>, char)>;

/// Returns the source ranges of the visible characters under one interpretation, if it yields the value.
fn matching(read: fn(&str) -> Option<Pieces>, raw: &str, value: &str) -> Option<Visible> {
    let pieces: Pieces = read(raw)?.into_iter().filter(|(_, letter)| !letter.is_whitespace()).collect();
    let same =
        pieces.iter().map(|(_, letter)| *letter).eq(value.chars().filter(|letter| !letter.is_whitespace()));
    same.then(|| pieces.into_iter().map(|(range, _)| range).collect())
}

fn n_visible(text: &str) -> usize {
    text.chars().filter(|letter| !letter.is_whitespace()).count()
}

/// Interprets plain and block scalars: every character denotes itself.
#[expect(clippy::unnecessary_wraps, reason = "shares its type with two interpretations that may fail")]
fn as_written(raw: &str) -> Option<Pieces> {
    Some(raw.char_indices().map(|(at, letter)| (at..at + letter.len_utf8(), letter)).collect())
}

fn single_quoted(raw: &str) -> Option<Pieces> {
    let inner = raw.strip_prefix('\'')?.strip_suffix('\'')?;
    let mut pieces = Vec::new();
    let mut letters = inner.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let mut end = at + letter.len_utf8();
        if letter == '\'' {
            letters.next_if(|(_, next)| *next == '\'')?;
            end += 1;
        }
        pieces.push((at + 1..end + 1, letter));
    }
    Some(pieces)
}

fn double_quoted(raw: &str) -> Option<Pieces> {
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    let mut pieces = Vec::new();
    let mut at = 0;
    while let Some(letter) = inner[at..].chars().next() {
        let (length, meaning) =
            if letter == '\\' { escape(&inner[at..])? } else { (letter.len_utf8(), letter) };
        pieces.push((at + 1..at + 1 + length, meaning));
        at += length;
    }
    Some(pieces)
}

/// Returns the length of an escape and the character it denotes. All whitespace characters are treated alike.
fn escape(text: &str) -> Option<(usize, char)> {
    let letter = text[1..].chars().next()?;
    let n_digits = match letter {
        'x' => 2,
        'u' => 4,
        'U' => 8,
        '"' | '\\' | '/' => return Some((2, letter)),
        '0' => return Some((2, '\0')),
        'a' => return Some((2, '\u{7}')),
        'b' => return Some((2, '\u{8}')),
        'e' => return Some((2, '\u{1b}')),
        other => return Some((1 + other.len_utf8(), ' ')),
    };
    let code = u32::from_str_radix(text.get(2..2 + n_digits)?, 16).ok()?;
    if letter == 'u' && (0xd800..0xdc00).contains(&code) {
        return surrogate_pair(code, text.get(6..)?);
    }
    Some((2 + n_digits, char::from_u32(code)?))
}

/// Decodes a surrogate pair, which JSON uses for characters beyond the BMP.
fn surrogate_pair(high: u32, rest: &str) -> Option<(usize, char)> {
    let low = u32::from_str_radix(rest.strip_prefix("\\u")?.get(..4)?, 16).ok()?;
    let low = low.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
    Some((12, char::from_u32(0x1_0000 + ((high - 0xd800) << 10) + low)?))
}

#[cfg(test)]
mod tests {
    use crate::{LoadLimits, json, load};

    use super::*;

    /// Locates `piece` in the value of `k` and checks the position and source text of the result.
    fn check(text: &str, piece: &str, line: u32, column: u32, source: &str) {
        let is_json = text.starts_with('{');
        let loaded = if is_json { json::load } else { load }(text, &LoadLimits::default());
        let node = loaded.documents[0].root.get("k").unwrap();
        let at = node.as_str().unwrap().find(piece).unwrap();
        let span = locate_in_scalar(node, text, at..at + piece.len());
        assert_eq!((span.start.line, span.start.column, span.slice(text)), (line, column, source), "{text}");
    }

    #[test]
    fn plain_text_is_exact() {
        check("k: a + b # c\n", "b", 1, 8, "b");
        check("j: 1\nk: ä + long\n  and more\n", "more", 3, 7, "more");
    }

    #[test]
    fn quotes_and_escapes_are_counted() {
        check("k: 'it''s b'\n", "b", 1, 11, "b");
        check("k: 'it''s b'\n", "'", 1, 7, "''");
        check("k: \"q\\n\\u0041 b\"\n", "b", 1, 15, "b");
        check("k: \"q\\n\\u0041 b\"\n", "A", 1, 8, "\\u0041");
        check("k: \"two\n  \\\"lines\\\"\"\n", "lines", 2, 5, "lines");
    }

    #[test]
    fn json_surrogate_pair_is_one_character() {
        check(r#"{"k": "a\n\ud83d\ude00\/ + b"}"#, "b", 1, 28, "b");
        check(r#"{"k": "a\n\ud83d\ude00\/ + b"}"#, "😀", 1, 11, r"\ud83d\ude00");
    }

    #[test]
    fn block_scalars_are_mapped_by_line() {
        check("k: |\n  'one'\n    + two\n\n  + three\n", "three", 5, 5, "three");
        check("k: >-\n  \"fold\"\n  + ed\n", "+ ed", 3, 3, "+ ed");
    }

    #[test]
    fn end_of_value_maps_to_the_end_of_the_text() {
        let text = "k: 'a + '\n";
        let loaded = load(text, &LoadLimits::default());
        let node = loaded.documents[0].root.get("k").unwrap();
        let span = locate_in_scalar(node, text, 4..4);
        assert_eq!((span.start.column, span.end.column), (8, 8));
    }
}
