//! Line-delimited requests: oversized lines and panics are contained in one request.

use std::io::{self, BufRead};
use std::panic::{self, AssertUnwindSafe};

use crate::exit::{Failure, Outcome};

/// Catches a panic, so that a bug in one request does not end the whole stream.
pub(crate) fn catch_panic<T>(work: impl FnOnce() -> T) -> Option<T> {
    panic::catch_unwind(AssertUnwindSafe(work)).ok()
}

pub(crate) enum Line {
    Bytes(Vec<u8>),
    TooLong,
}

/// Reads lines of bounded length; the rest of an oversized line is discarded.
pub(crate) struct Lines<R> {
    source: R,
    /// Name of the source for messages.
    origin: String,
    bytes_max: usize,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(source: R, origin: impl Into<String>, bytes_max: usize) -> Self {
        Self { source, origin: origin.into(), bytes_max }
    }

    pub(crate) fn next(&mut self) -> Outcome<Option<Line>> {
        self.read().map_err(|error| Failure::input(format!("cannot read {}: {error}", self.origin)))
    }

    fn read(&mut self) -> io::Result<Option<Line>> {
        let mut line = Vec::new();
        let mut is_too_long = false;
        loop {
            let chunk = match self.source.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let at_end = chunk.is_empty();
            let (n_bytes, is_complete) = match chunk.iter().position(|byte| *byte == b'\n') {
                Some(at) => (at + 1, true),
                None => (chunk.len(), at_end),
            };
            if line.len() + n_bytes > self.bytes_max {
                is_too_long = true;
                line = Vec::new();
            } else if !is_too_long {
                line.extend_from_slice(&chunk[..n_bytes]);
            }
            self.source.consume(n_bytes);
            if at_end && line.is_empty() && !is_too_long {
                return Ok(None);
            }
            if is_complete {
                return Ok(Some(if is_too_long { Line::TooLong } else { Line::Bytes(line) }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str, bytes_max: usize) -> Vec<String> {
        // Smaller than a line, so that lines span several buffers.
        let source = io::BufReader::with_capacity(3, text.as_bytes());
        let mut lines = Lines::new(source, "a test", bytes_max);
        std::iter::from_fn(|| lines.next().unwrap())
            .map(|line| match line {
                Line::Bytes(bytes) => String::from_utf8(bytes).unwrap(),
                Line::TooLong => "too long".to_owned(),
            })
            .collect()
    }

    #[test]
    fn panic_is_caught() {
        assert_eq!(catch_panic::<String>(|| panic!("a bug")), None);
        assert_eq!(catch_panic(|| "fine".to_owned()).as_deref(), Some("fine"));
    }

    #[test]
    fn lines_keep_their_terminator() {
        assert_eq!(split("abcdef\n\nx", 10), ["abcdef\n", "\n", "x"]);
        assert_eq!(split("", 10), [""; 0]);
    }

    #[test]
    fn oversized_line_is_skipped() {
        assert_eq!(split("abcdefgh\nij\n", 5), ["too long", "ij\n"]);
        assert_eq!(split("ij\nabcdefgh", 5), ["ij\n", "too long"]);
    }
}
