//! The text passed to the parser, which may differ from the original.
//!
//! The parser enforces the YAML 1.2 rule that each line of a multi-line quoted scalar is indented more than
//! the surrounding block. PyYAML does not, and real files rely on that. Leading blanks of such a line are
//! insignificant, so the parser gets a text with additional blanks, and its positions are translated back.

use std::borrow::Cow;

use granit_parser::{ErrorKind, Marker, ScanError};
use stoker_diagnostics::{Position, Span};

/// Maximum number of bytes parsed again because of repairs: each repair parses the text from the start.
const REREAD_BYTES_MAX: usize = 8 << 20;

pub(crate) struct Source<'t> {
    original: &'t str,
    pub(crate) text: Cow<'t, str>,
    /// Lines with additional leading blanks, ascending.
    shifted_lines: Vec<u32>,
    /// Number of additional blanks: one more than the deepest indentation, which suffices for every line.
    n_blanks: u32,
    n_bytes_reread: usize,
}

impl<'t> Source<'t> {
    pub(crate) fn new(original: &'t str) -> Self {
        Self {
            original,
            text: Cow::Borrowed(original),
            shifted_lines: Vec::new(),
            n_blanks: 0,
            n_bytes_reread: 0,
        }
    }

    /// Reports whether a repaired text avoids this error.
    pub(crate) fn can_repair(&self, error: &ScanError) -> bool {
        let line = error.marker().line();
        // Both errors occur in quoted scalars only.
        matches!(error.kind(), ErrorKind::InvalidQuotedScalarIndent | ErrorKind::TabInIndentation)
            && self.shifted_lines.binary_search(&(line as u32)).is_err()
            && !lines(self.original).nth(line.saturating_sub(1)).is_some_and(is_document_marker)
            && self.n_bytes_reread <= REREAD_BYTES_MAX
    }

    pub(crate) fn repair(&mut self, error: &ScanError) {
        if self.shifted_lines.is_empty() {
            self.n_blanks = lines(self.original).map(n_indent_chars).max().unwrap_or_default() as u32 + 1;
        }
        self.shift_quoted_lines(error.marker().line() as u32);
        self.text = Cow::Owned(self.shifted());
        self.n_bytes_reread += self.text.len();
    }

    /// Marks the lines from `first` to the next single or double quote: they all start inside the same quoted
    /// scalar.
    fn shift_quoted_lines(&mut self, first: u32) {
        // Always shift the line of the error; otherwise the same repair would be repeated forever.
        self.shifted_lines.push(first);
        let rest = lines(self.original).chain([""]).zip(1..).skip((first as usize).saturating_sub(1));
        for (text, line) in rest {
            // A document marker ends the document even inside quotes, with an error.
            if is_document_marker(text) {
                break;
            }
            self.shifted_lines.push(line);
            if text.contains(['\'', '"']) {
                break;
            }
        }
        self.shifted_lines.sort_unstable();
        self.shifted_lines.dedup();
    }

    /// Returns the first repaired line from `line` on, where a closing quote may be missing.
    pub(crate) fn repaired_line(&self, line: u32) -> Option<Span> {
        let line = *self.shifted_lines.iter().find(|shifted| **shifted >= line)?;
        let offset =
            lines(self.original).take((line as usize).saturating_sub(1)).map(str::len).sum::<usize>() as u32;
        Some(Span::at(Position { offset, line, column: 1 }))
    }

    fn shifted(&self) -> String {
        let blanks = " ".repeat(self.n_blanks as usize);
        let mut text = String::with_capacity(self.original.len() + blanks.len() * self.shifted_lines.len());
        let mut shifted_lines = self.shifted_lines.iter().peekable();
        // An error may be reported on the empty line after the last one.
        for (line_idx, line) in lines(self.original).chain([""]).enumerate() {
            if shifted_lines.next_if_eq(&&(line_idx as u32 + 1)).is_some() {
                text.push_str(&blanks);
            }
            text.push_str(line);
        }
        text
    }

    pub(crate) fn position(&self, marker: Marker) -> Position {
        // The loader rejects text whose offsets do not fit into 32 bits.
        let (line, column) = (marker.line() as u32, marker.col() as u32);
        let n_shifted_before = self.shifted_lines.partition_point(|shifted| *shifted < line);
        let is_shifted = self.shifted_lines.get(n_shifted_before) == Some(&line);
        let n_blanks = if is_shifted { self.n_blanks.min(column) } else { 0 };
        let n_bytes_added = n_shifted_before * self.n_blanks as usize + n_blanks as usize;
        let offset = marker.byte_offset().unwrap_or_default().saturating_sub(n_bytes_added);
        Position { offset: offset as u32, line, column: column - n_blanks + 1 }
    }

    pub(crate) fn span(&self, span: granit_parser::Span) -> Span {
        Span { start: self.position(span.start), end: self.position(span.end) }
    }
}

fn is_document_marker(line: &str) -> bool {
    let rest = line.strip_prefix("---").or_else(|| line.strip_prefix("..."));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\n', '\r']))
}

/// Returns the number of leading characters that can be indentation or block indicators.
fn n_indent_chars(line: &str) -> usize {
    line.bytes().take_while(|byte| b" -?:".contains(byte)).count()
}

/// Splits text into lines including their terminators: LF, CR LF or CR.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest
            .find(['\n', '\r'])
            .map_or(rest.len(), |at| if rest[at..].starts_with("\r\n") { at + 2 } else { at + 1 });
        let (line, tail) = rest.split_at(end);
        rest = tail;
        (!line.is_empty()).then_some(line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_breaks() {
        let split = |text: &'static str| lines(text).collect::<Vec<_>>();
        assert_eq!(split("a\nb\r\nc\rd\n\ne"), ["a\n", "b\r\n", "c\r", "d\n", "\n", "e"]);
        assert_eq!(split(""), [""; 0]);
    }
}
