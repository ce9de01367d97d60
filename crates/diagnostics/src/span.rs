//! Positions and spans in source text.

use std::fmt;
use std::ops::Range;

/// A position in the source text. The default is its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// Byte offset, counted from 0.
    pub offset: u32,
    /// Line, counted from 1.
    pub line: u32,
    /// Column in characters, counted from 1.
    pub column: u32,
}

/// A half-open range of the source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    pub start: Position,
    pub end: Position,
}

impl Default for Position {
    fn default() -> Self {
        Self { offset: 0, line: 1, column: 1 }
    }
}

impl Position {
    /// Returns the position of a byte offset, which is clamped to the text and to the start of a character. Scans the text
    /// from its start.
    pub fn in_text(text: &str, offset: usize) -> Self {
        let before = &text[..text.floor_char_boundary(offset)];
        let line_start = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
        let n_breaks =
            before.matches('\n').count() + before.matches('\r').count() - before.matches("\r\n").count();
        let column = before[line_start..].chars().filter(|letter| *letter != '\u{feff}').count() + 1;
        Self { offset: before.len() as u32, line: n_breaks as u32 + 1, column: column as u32 }
    }

    /// Returns the position after `character`. Line breaks are LF, CR LF and CR, as in YAML; a byte order mark at the
    /// start takes no column.
    pub fn after(self, character: char, next: Option<char>) -> Self {
        let offset = self.offset + character.len_utf8() as u32;
        match character {
            '\n' => Self { offset, line: self.line + 1, column: 1 },
            '\r' if next != Some('\n') => Self { offset, line: self.line + 1, column: 1 },
            '\u{feff}' if self.offset == 0 => Self { offset, ..self },
            _ => Self { offset, line: self.line, column: self.column + 1 },
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

impl Span {
    /// Returns the empty span at a position.
    pub fn at(position: Position) -> Self {
        Self { start: position, end: position }
    }

    /// Returns the span of a byte range, which is clamped to the text.
    pub fn in_text(text: &str, range: Range<usize>) -> Self {
        let start = Position::in_text(text, range.start);
        Self { start, end: Position::in_text(text, range.end.max(range.start)) }
    }

    /// Returns the text of the span; empty if the span is out of range.
    pub fn slice(self, text: &str) -> &str {
        text.get(self.bytes()).unwrap_or_default()
    }

    /// Returns the byte range.
    pub fn bytes(self) -> Range<usize> {
        self.start.offset as usize..self.end.offset as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_of_any_offset_are_in_the_text() {
        for text in ["", "a", "ä\u{1b}\tb\r\nc\n\n", "\r\r\n", "\u{feff}a: 🦀"] {
            for start in 0..text.len() + 2 {
                for end in 0..text.len() + 2 {
                    let span = Span::in_text(text, start..end);
                    assert!(text.get(span.bytes()).is_some(), "{text:?} {start}..{end}");
                }
            }
        }
    }

    #[test]
    fn stepping_and_scanning_agree() {
        let text = "\u{feff}ä: 1\r\nb\rc\n🦀";
        let mut position = Position::default();
        let mut letters = text.chars().peekable();
        while let Some(letter) = letters.next() {
            position = position.after(letter, letters.peek().copied());
            // Between CR and LF there is no line yet.
            if letter != '\r' || letters.peek() != Some(&'\n') {
                assert_eq!(Position::in_text(text, position.offset as usize), position, "{position:?}");
            }
        }
        assert_eq!(position.to_string(), "4:2");
    }
}
