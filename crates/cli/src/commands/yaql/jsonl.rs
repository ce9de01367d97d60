//! `stoker yaql --jsonl`: requests in, answers out, a line each.

use std::io;
use std::time::Duration;

use stoker_yaql::Limits;
use stoker_yaql::protocol::{Responder, refusal};

use crate::exit::Outcome;
use crate::host::SystemHost;
use crate::input::{Line, Lines, guarded};
use crate::printer::Printer;

/// A request that is longer is refused: its values would take many times as much memory.
const LINE_BYTES_MAX: usize = 16 << 20;
const TIME_MAX: Duration = Duration::from_secs(20);

pub(crate) fn run(printer: &mut Printer) -> Outcome {
    let host = SystemHost::new(Some(TIME_MAX));
    let mut responder = Responder::new(&host, Limits::default());
    let mut lines = Lines::new(io::stdin().lock(), "standard input", LINE_BYTES_MAX);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_to_a_bug_is_an_answer() {
        assert!(stoker_yaql::json::parse(BUG).is_ok());
    }
}
