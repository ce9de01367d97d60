//! Positions and spans in source text.

use std::fmt;

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
    /// Returns the position after `character`. Uses the parser's line breaks (LF, CR LF, CR); a byte order
    /// mark at the start takes no column.
    pub(crate) fn after(self, character: char, next: Option<char>) -> Self {
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
    /// Returns the text of the span; empty if the span is out of range.
    pub fn slice(self, text: &str) -> &str {
        text.get(self.start.offset as usize..self.end.offset as usize).unwrap_or_default()
    }

    pub(crate) fn at(position: Position) -> Self {
        Self { start: position, end: position }
    }
}
