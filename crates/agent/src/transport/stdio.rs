//! JSON lines on standard input and output, for agents that a server starts over SSH.

use std::io;

use stoker_model::ErrorChain;
use stoker_wire::{Decoded, TO_AGENT_BYTES_MAX, decode_to_agent, encode_from_agent};
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
};
use tokio::sync::mpsc;

use super::{Connecting, Connection, QUEUE, Transport, TransportError};

/// The only connection of this process. After it is lost, the parent process has to start a new agent.
pub struct StdioTransport {
    ends: Option<(Box<dyn AsyncBufRead + Send + Unpin>, Box<dyn AsyncWrite + Send + Unpin>)>,
}

impl StdioTransport {
    /// Creates the transport over standard input and output of this process.
    pub fn own() -> Self {
        Self::new(BufReader::new(tokio::io::stdin()), tokio::io::stdout())
    }

    pub fn new(
        input: impl AsyncBufRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        Self { ends: Some((Box::new(input), Box::new(output))) }
    }
}

impl Transport for StdioTransport {
    fn connect(&mut self) -> Connecting<'_> {
        let ends = self.ends.take();
        Box::pin(async move {
            let Some((mut input, mut output)) = ends else {
                return Err(TransportError::Closed("end of standard input"));
            };
            let (received, receive) = mpsc::channel(QUEUE);
            let (send, mut sending) = mpsc::channel(QUEUE);
            tokio::spawn(async move {
                // Malformed lines are skipped; a read error ends the connection.
                while let Ok(Some(line)) = read_line(&mut input, TO_AGENT_BYTES_MAX).await {
                    match decode_to_agent(&line) {
                        Ok(Decoded::Message(message)) => {
                            if received.send(message).await.is_err() {
                                break;
                            }
                        }
                        Ok(Decoded::Unknown) => {}
                        Err(error) => tracing::warn!(error = %ErrorChain(&error), "ignored a malformed line"),
                    }
                }
            });
            tokio::spawn(async move {
                while let Some(message) = sending.recv().await {
                    let line = format!("{}\n", encode_from_agent(&message));
                    if output.write_all(line.as_bytes()).await.is_err() || output.flush().await.is_err() {
                        break;
                    }
                }
            });
            Ok(Connection { send, receive })
        })
    }
}

/// Reads the next line, up to `bytes_max` bytes. `None` at end of input.
pub(crate) async fn read_line(
    input: &mut (impl AsyncBufRead + Unpin + ?Sized),
    bytes_max: usize,
) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    let n_read = input.take(bytes_max as u64 + 1).read_until(b'\n', &mut line).await?;
    if n_read == 0 {
        return Ok(None);
    }
    if n_read > bytes_max {
        return Err(io::Error::other("line exceeds the length limit"));
    }
    Ok(Some(String::from_utf8_lossy(&line).into_owned()))
}

#[cfg(test)]
mod tests {
    use stoker_engine::session::{FromAgent, ToAgent};
    use stoker_model::RunId;
    use stoker_wire::encode_to_agent;

    use super::*;

    #[tokio::test]
    async fn malformed_lines_are_skipped() {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (input, output) = tokio::io::split(theirs);
        let mut transport = StdioTransport::new(BufReader::new(input), output);
        let mut connection = transport.connect().await.unwrap();
        let (reading, mut writing) = tokio::io::split(ours);
        let message = ToAgent::RunEnded { run: RunId(4) };
        let text = format!("what?\n{{\"kind\":\"later\"}}\n\u{1}\n{}\n", encode_to_agent(&message));
        writing.write_all(text.as_bytes()).await.unwrap();
        assert_eq!(connection.receive.recv().await, Some(message));
        connection.send.send(FromAgent::Heartbeat).await.unwrap();
        let line = read_line(&mut BufReader::new(reading), 1000).await.unwrap();
        assert_eq!(line.as_deref(), Some("{\"kind\":\"heartbeat\"}\n"));
        assert!(matches!(transport.connect().await, Err(TransportError::Closed(_))));
    }

    #[tokio::test]
    async fn oversized_lines_are_rejected() {
        let mut input = BufReader::new(&b"0123456789"[..]);
        assert!(read_line(&mut input, 5).await.is_err());
        let mut input = BufReader::new(&b"01\n23"[..]);
        assert_eq!(read_line(&mut input, 5).await.unwrap().as_deref(), Some("01\n"));
        assert_eq!(read_line(&mut input, 5).await.unwrap().as_deref(), Some("23"));
        assert_eq!(read_line(&mut input, 5).await.unwrap(), None);
    }
}
