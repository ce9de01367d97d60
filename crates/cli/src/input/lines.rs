//! Lines of requests, of which no bad one harms the others.

use std::io::{self, BufRead};
use std::panic::{self, AssertUnwindSafe};

use crate::exit::{Failure, Outcome};

/// Does work that should never panic, and outlives it if it does: whoever sent the other requests of this input
/// is not to suffer for this one.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Option<T> {
    panic::catch_unwind(AssertUnwindSafe(work)).ok()
}

/// One line of the input.
pub(crate) enum Line {
    Bytes(Vec<u8>),
    TooLong,
}

/// Lines of bounded length; the rest of a longer one is thrown away.
pub(crate) struct Lines<R> {
    source: R,
    /// What to call it in messages.
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
            let (taken, is_complete) = match chunk.iter().position(|byte| *byte == b'\n') {
                Some(at) => (at + 1, true),
                None => (chunk.len(), at_end),
            };
            if line.len() + taken > self.bytes_max {
                is_too_long = true;
                line = Vec::new();
            } else if !is_too_long {
                line.extend_from_slice(&chunk[..taken]);
            }
            self.source.consume(taken);
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
        // A tiny buffer, so that lines span several.
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
    fn a_bug_costs_one_answer() {
        assert_eq!(guarded::<String>(|| panic!("a bug")), None);
        assert_eq!(guarded(|| "fine".to_owned()).as_deref(), Some("fine"));
    }

    #[test]
    fn lines_are_kept_whole_and_the_last_needs_no_break() {
        assert_eq!(split("abcdef\n\nx", 10), ["abcdef\n", "\n", "x"]);
        assert_eq!(split("", 10), [""; 0]);
    }

    #[test]
    fn a_long_line_costs_itself_only() {
        assert_eq!(split("abcdefgh\nij\n", 5), ["too long", "ij\n"]);
        assert_eq!(split("ij\nabcdefgh", 5), ["ij\n", "too long"]);
    }
}
