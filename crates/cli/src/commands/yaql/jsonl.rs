//! `stoker yaql --jsonl`: JSON Lines protocol.

use std::io;
use std::time::Duration;

use stoker_yaql::Limits;
use stoker_yaql::protocol::{Responder, error_response};

use crate::exit::Outcome;
use crate::host::SystemHost;
use crate::input::{Line, Lines, catch_panic};
use crate::printer::Printer;

/// Maximum size of a request; the values of longer requests take a multiple of that in memory.
const LINE_BYTES_MAX: usize = 16 << 20;
const TIME_MAX: Duration = Duration::from_secs(20);

pub(crate) fn run(printer: &mut Printer) -> Outcome {
    let host = SystemHost::new(Some(TIME_MAX));
    let mut responder = Responder::new(&host, Limits::default());
    let mut lines = Lines::new(io::stdin().lock(), "standard input", LINE_BYTES_MAX);
    while let Some(line) = lines.next()? {
        let response = match &line {
            Line::Bytes(bytes) => match std::str::from_utf8(bytes).map(str::trim) {
                Ok("") => continue,
                Ok(request) => {
                    host.start();
                    catch_panic(|| responder.respond(request)).unwrap_or_else(|| {
                        responder = Responder::new(&host, Limits::default());
                        INTERNAL_ERROR.to_owned()
                    })
                }
                Err(_) => error_response("invalid UTF-8"),
            },
            Line::TooLong => error_response(&format!("request exceeds {LINE_BYTES_MAX} bytes")),
        };
        printer.data(&response)?;
    }
    Ok(())
}

/// Response after a panic; its message is on standard error.
const INTERNAL_ERROR: &str = r#"{"err": "InternalError", "msg": "this request triggered a bug in stoker"}"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn internal_error_response_is_valid_json() {
        assert!(stoker_yaql::json::parse(INTERNAL_ERROR).is_ok());
    }
}
