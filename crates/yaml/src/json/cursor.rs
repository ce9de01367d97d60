//! A forward-moving position in the text that tracks line and column.

use stoker_diagnostics::{Position, Span};

pub(super) struct Cursor<'t> {
    text: &'t str,
    offset: usize,
    line: u32,
    /// Byte offset at which column 1 of this line would be if all characters before the cursor were one byte
    /// long.
    column_base: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        // A byte order mark takes no column.
        let offset = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Self { text, offset, line: 1, column_base: offset }
    }

    pub(super) fn position(&self) -> Position {
        let column = self.offset - self.column_base + 1;
        Position { offset: self.offset as u32, line: self.line, column: column as u32 }
    }

    pub(super) fn span_from(&self, start: Position) -> Span {
        Span { start, end: self.position() }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.offset).copied()
    }

    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.offset..]
    }

    /// Returns the text between `start` and the cursor.
    pub(super) fn since(&self, start: Position) -> &'t str {
        &self.text[start.offset as usize..self.offset]
    }

    /// Advances over ASCII bytes other than line breaks.
    pub(super) fn skip_ascii(&mut self, n_bytes: usize) {
        self.offset += n_bytes;
    }

    /// Advances over text within one line.
    pub(super) fn skip_text(&mut self, n_bytes: usize, n_chars: usize) {
        self.offset += n_bytes;
        self.column_base += n_bytes - n_chars;
    }

    /// Skips JSON whitespace.
    pub(super) fn skip_blanks(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' => self.offset += 1,
                b'\n' => self.break_line(),
                // CR LF is one line break, counted at the LF.
                b'\r' if self.text.as_bytes().get(self.offset + 1) == Some(&b'\n') => self.offset += 1,
                b'\r' => self.break_line(),
                _ => return,
            }
        }
    }

    fn break_line(&mut self) {
        self.offset += 1;
        self.line += 1;
        self.column_base = self.offset;
    }

    /// Returns the span of the current character, for problems; empty at the end of the text.
    pub(super) fn character_span(&self) -> Span {
        let mut end = self.position();
        if let Some(letter) = self.rest().chars().next() {
            end.offset += letter.len_utf8() as u32;
            end.column += 1;
        }
        Span { start: self.position(), end }
    }

    /// Returns the span of the word at the cursor (letters, digits, `_`, `-`, `$`, `.`, `+`), or of one
    /// character, for problems.
    pub(super) fn word_span(&self) -> Span {
        let word = self.word();
        if word.is_empty() {
            return self.character_span();
        }
        let mut end = self.position();
        end.offset += word.len() as u32;
        end.column += word.chars().count() as u32;
        Span { start: self.position(), end }
    }

    pub(super) fn word(&self) -> &'t str {
        let rest = self.rest();
        let is_word = |letter: char| letter.is_alphanumeric() || "_-$.+".contains(letter);
        rest.find(|letter| !is_word(letter)).map_or(rest, |end| &rest[..end])
    }
}
