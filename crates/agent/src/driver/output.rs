//! Buffer for the output of an attempt between its process and the driver loop.

use parking_lot::Mutex;
use stoker_engine::session::{AttemptKey, FromAgent, Stream};
use tokio::sync::{Notify, mpsc};

use super::Event;

/// Output that the driver loop has not received yet. Consecutive output of a stream is merged into one piece,
/// so that no output is lost while the driver loop is busy. The report of the attempt bounds its length.
#[derive(Debug, Default)]
pub(super) struct OutputBuffer {
    pieces: Mutex<[Piece; 2]>,
    added: Notify,
}

/// Contiguous output of one stream.
#[derive(Debug, Default)]
struct Piece {
    /// Number of bytes of the stream before this piece.
    offset: u64,
    text: String,
}

impl OutputBuffer {
    pub(super) fn push(&self, stream: Stream, offset: u64, text: &str) {
        let mut pieces = self.pieces.lock();
        let piece = &mut pieces[usize::from(stream == Stream::Err)];
        if piece.text.is_empty() {
            piece.offset = offset;
        }
        piece.text.push_str(text);
        drop(pieces);
        self.added.notify_one();
    }

    /// Forwards output as it is added. Never returns; cancel-safe.
    pub(super) async fn forward(
        &self,
        key: AttemptKey,
        events: &mpsc::Sender<Event>,
    ) -> std::convert::Infallible {
        loop {
            self.added.notified().await;
            self.flush(key, events).await;
        }
    }

    /// Forwards what is buffered. Waits while the channel is full.
    pub(super) async fn flush(&self, key: AttemptKey, events: &mpsc::Sender<Event>) {
        for stream in [Stream::Out, Stream::Err] {
            if self.pieces.lock()[usize::from(stream == Stream::Err)].text.is_empty() {
                continue;
            }
            // The piece stays in the buffer and grows until the channel has room. If the channel is closed,
            // the agent is exiting.
            let Ok(permit) = events.reserve().await else { return };
            let Piece { offset, text } =
                std::mem::take(&mut self.pieces.lock()[usize::from(stream == Stream::Err)]);
            permit.send(Event::Report(FromAgent::Output { key, stream, offset, text }));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use stoker_engine::session::AttemptKey;
    use stoker_model::{InstanceIdx, RunId};

    use super::*;

    const KEY: AttemptKey = AttemptKey { run: RunId(1), instance: InstanceIdx::new(1), attempt: 1 };

    async fn next(received: &mut mpsc::Receiver<Event>) -> (Stream, u64, String) {
        match received.recv().await {
            Some(Event::Report(FromAgent::Output { stream, offset, text, .. })) => (stream, offset, text),
            _ => panic!("no output"),
        }
    }

    #[tokio::test]
    async fn full_channel_joins_output_and_loses_none() {
        let (events, mut received) = mpsc::channel(1);
        let output = OutputBuffer::default();
        output.push(Stream::Out, 0, "a");
        output.flush(KEY, &events).await;
        output.push(Stream::Out, 1, "bc");
        output.push(Stream::Err, 0, "x");
        let waiting = tokio::time::timeout(Duration::from_millis(20), output.flush(KEY, &events)).await;
        assert!(waiting.is_err(), "it waits while the channel is full");
        output.push(Stream::Out, 3, "d");
        let drain = async {
            assert_eq!(next(&mut received).await, (Stream::Out, 0, "a".to_owned()));
            assert_eq!(next(&mut received).await, (Stream::Out, 1, "bcd".to_owned()));
            assert_eq!(next(&mut received).await, (Stream::Err, 0, "x".to_owned()));
        };
        tokio::join!(output.flush(KEY, &events), drain);
        output.flush(KEY, &events).await;
        assert!(received.try_recv().is_err(), "nothing is sent twice");
    }
}
