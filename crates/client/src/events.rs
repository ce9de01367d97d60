//! Server-sent events.

use std::io::{BufRead, BufReader, Read as _};

use serde_json::Value as Json;

use crate::client::Client;
use crate::error::ClientError;
use crate::request::{EVENT_STREAM, RestRequest};

/// One server-sent event.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamEvent {
    /// Event id, to resume after a broken connection.
    pub id: String,
    pub kind: String,
    pub data: Json,
}

/// Maximum line length; longer lines are not sent by Stoker.
const LINE_BYTES_MAX: u64 = 64 << 20;

/// Event stream, until the server closes it.
pub struct Events {
    lines: Box<dyn BufRead + Send>,
    client: Client,
}

impl Client {
    /// Opens an event stream.
    pub fn events(&self, request: RestRequest<'_>) -> Result<Events, ClientError> {
        let response = self.open(&request.accept(EVENT_STREAM))?;
        Ok(Events {
            lines: Box::new(BufReader::new(response.into_body().into_reader())),
            client: self.clone(),
        })
    }
}

impl Iterator for Events {
    type Item = Result<StreamEvent, ClientError>;

    fn next(&mut self) -> Option<Self::Item> {
        read_event(&mut self.lines).map_err(|error| self.client.interrupted(error)).transpose()
    }
}

/// Returns the next event; `None` at the end of the stream.
fn read_event(lines: &mut dyn BufRead) -> std::io::Result<Option<StreamEvent>> {
    let (mut id, mut kind, mut data) = (String::new(), String::new(), String::new());
    loop {
        let mut line = String::new();
        if lines.take(LINE_BYTES_MAX).read_line(&mut line)? == 0 {
            // An event without its terminating empty line was cut off.
            return Ok(None);
        }
        let line = line.trim_end_matches(['\n', '\r']);
        if line.is_empty() {
            if data.is_empty() {
                continue;
            }
            let data = serde_json::from_str(&data)?;
            return Ok(Some(StreamEvent { id, kind, data }));
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "id" => value.clone_into(&mut id),
            "event" => value.clone_into(&mut kind),
            "data" => {
                if !data.is_empty() {
                    data.push('\n');
                }
                data.push_str(value);
            }
            // Keep-alive, or a field of a later version.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read_all(text: &str) -> Vec<StreamEvent> {
        let mut lines: Box<dyn BufRead> = Box::new(text.as_bytes());
        std::iter::from_fn(|| read_event(&mut lines).unwrap()).collect()
    }

    #[test]
    fn events_are_parsed_and_keep_alives_skipped() {
        let event = |id: &str, kind: &str, data: Json| StreamEvent { id: id.into(), kind: kind.into(), data };
        let text = ":\n\nid: 1\nevent: began\ndata: {\"a\":\ndata: 1}\n\n: x\n\r\nid:2\r\ndata:[]\r\n\r\nid: 3\ndata: 5";
        assert_eq!(read_all(text), [event("1", "began", json!({"a": 1})), event("2", "", json!([]))]);
    }

    #[test]
    fn invalid_json_is_an_error() {
        let mut lines: Box<dyn BufRead> = Box::new(&b"data: {\n\n"[..]);
        assert!(read_event(&mut lines).is_err());
    }
}
