//! `stoker yaql --jsonl`: requests in, answers out, a line each.

use std::io::{self, BufRead};
use std::panic::{self, AssertUnwindSafe};
use std::time::Duration;

use stoker_yaql::Limits;
use stoker_yaql::protocol::{Responder, refusal};

use crate::exit::{Failure, Outcome};
use crate::host::SystemHost;
use crate::printer::Printer;

/// A request that is longer is refused: its values would take many times as much memory.
const LINE_BYTES_MAX: usize = 16 << 20;
const TIME_MAX: Duration = Duration::from_secs(20);

pub(crate) fn run(printer: &mut Printer) -> Outcome {
    let host = SystemHost::new(Some(TIME_MAX));
    let mut responder = Responder::new(&host, Limits::default());
    let mut lines = Lines { source: io::stdin().lock(), bytes_max: LINE_BYTES_MAX };
    while let Some(line) = lines.next()? {
        let answer = match &line {
            Line::Bytes(bytes) => match std::str::from_utf8(bytes).map(str::trim) {
                Ok("") => continue,
                Ok(request) => {
                    host.start();
                    guarded(|| responder.answer(request)).unwrap_or_else(|| {
                        responder = Responder::new(&host, Limits::default());
                        BUG.to_owned()
                    })
                }
                Err(_) => refusal("a request is UTF-8 text"),
            },
            Line::TooLong => refusal(&format!("a request has at most {LINE_BYTES_MAX} bytes")),
        };
        printer.data(&answer)?;
    }
    Ok(())
}

/// The answer when the program itself is at fault; what happened is on standard error.
const BUG: &str = r#"{"err": "InternalError", "msg": "this request met a bug of stoker"}"#;

/// Does work that should never panic, and outlives it if it does: whoever sent the other requests of this input
/// is not to suffer for this one.
fn guarded(work: impl FnOnce() -> String) -> Option<String> {
    panic::catch_unwind(AssertUnwindSafe(work)).ok()
}

enum Line {
    Bytes(Vec<u8>),
    TooLong,
}

/// Lines of bounded length; the rest of a longer one is thrown away.
struct Lines<R> {
    source: R,
    bytes_max: usize,
}

impl<R: BufRead> Lines<R> {
    fn next(&mut self) -> Outcome<Option<Line>> {
        self.read().map_err(|error| Failure::input(format!("cannot read standard input: {error}")))
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
        let mut lines = Lines { source, bytes_max };
        std::iter::from_fn(|| lines.next().unwrap())
            .map(|line| match line {
                Line::Bytes(bytes) => String::from_utf8(bytes).unwrap(),
                Line::TooLong => "too long".to_owned(),
            })
            .collect()
    }

    #[test]
    fn a_bug_costs_one_answer() {
        assert_eq!(guarded(|| panic!("a bug")), None);
        assert_eq!(guarded(|| "fine".to_owned()).as_deref(), Some("fine"));
        assert!(stoker_yaql::json::parse(BUG).is_ok());
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
