//! What an attempt prints, on its way to the report: secrets removed, text made valid, length bounded.
//!
//! Owns no channel: whoever makes a [`Report`] says where pieces go.

mod decode;
mod kept;
mod mask;

use std::sync::{Mutex, MutexGuard, PoisonError};

use stoker_engine::session::Stream;

use decode::Decoder;
use kept::Kept;
pub use mask::Mask;

/// Where pieces of output go. The offset counts the bytes of what was reported of the stream before.
pub type Sink = Box<dyn Fn(Stream, u64, String) + Send + Sync>;

/// How much of each stream is reported: this much from its beginning and this much from its end.
pub const KEPT_BYTES: usize = 64 << 10;

/// How much of the end of a stream a task type can look at.
const TAIL_BYTES: usize = 8 << 10;

/// Both streams of one attempt.
pub struct Report {
    mask: Mask,
    sink: Sink,
    out: Mutex<Channel>,
    err: Mutex<Channel>,
}

struct Channel {
    mask: mask::Masking,
    decoder: Decoder,
    kept: Kept,
    offset: u64,
    tail: String,
}

impl Report {
    pub fn new(secrets: &[String], kept_bytes: usize, sink: Sink) -> Self {
        let mask = Mask::new(secrets);
        let channel = || {
            Mutex::new(Channel {
                mask: mask.start(),
                decoder: Decoder::default(),
                kept: Kept::new(kept_bytes),
                offset: 0,
                tail: String::new(),
            })
        };
        Self { out: channel(), err: channel(), mask, sink }
    }

    /// Bytes as they came from a program.
    pub fn push(&self, stream: Stream, bytes: &[u8]) {
        let mut channel = self.channel(stream);
        let plain = channel.mask.push(bytes);
        let text = channel.decoder.push(&plain);
        self.take(stream, &mut channel, &text);
    }

    /// A line of our own, whole.
    pub fn line(&self, line: &str) {
        let text = format!("{}\n", self.mask.text(line));
        let mut channel = self.channel(Stream::Out);
        self.take(Stream::Out, &mut channel, &text);
    }

    /// A program has ended: nothing of it is still to come.
    pub fn flush(&self) {
        for stream in [Stream::Out, Stream::Err] {
            let mut channel = self.channel(stream);
            let plain = channel.mask.finish();
            let mut text = channel.decoder.push(&plain);
            text.push_str(&channel.decoder.finish());
            self.take(stream, &mut channel, &text);
        }
    }

    /// The attempt has ended: what was held back of its end is reported.
    pub fn finish(&self) {
        self.flush();
        for stream in [Stream::Out, Stream::Err] {
            let mut channel = self.channel(stream);
            let rest = channel.kept.finish();
            self.send(stream, &mut channel, rest);
        }
    }

    /// The end of what has been printed so far. Empties it: the next program begins its own.
    pub fn take_tail(&self, stream: Stream) -> String {
        std::mem::take(&mut self.channel(stream).tail)
    }

    pub fn mask(&self) -> &Mask {
        &self.mask
    }

    fn take(&self, stream: Stream, channel: &mut Channel, text: &str) {
        if text.is_empty() {
            return;
        }
        channel.tail.push_str(text);
        if channel.tail.len() > 2 * TAIL_BYTES {
            let cut = channel.tail.ceil_char_boundary(channel.tail.len() - TAIL_BYTES);
            channel.tail.drain(..cut);
        }
        let now = channel.kept.push(text);
        self.send(stream, channel, now);
    }

    fn send(&self, stream: Stream, channel: &mut Channel, text: String) {
        if text.is_empty() {
            return;
        }
        let offset = channel.offset;
        channel.offset += text.len() as u64;
        (self.sink)(stream, offset, text);
    }

    fn channel(&self, stream: Stream) -> MutexGuard<'_, Channel> {
        let channel = match stream {
            Stream::Out => &self.out,
            Stream::Err => &self.err,
        };
        // A panic elsewhere leaves text as it was, which is still text.
        channel.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn reported(secrets: &[&str], kept: usize, act: impl FnOnce(&Report)) -> String {
        let seen = Arc::new(Mutex::new(String::new()));
        let sink = {
            let seen = Arc::clone(&seen);
            move |_: Stream, offset: u64, text: String| {
                let mut seen = seen.lock().unwrap();
                assert_eq!(offset, seen.len() as u64, "offsets follow each other");
                seen.push_str(&text);
            }
        };
        let secrets: Vec<String> = secrets.iter().map(|secret| (*secret).to_owned()).collect();
        let report = Report::new(&secrets, kept, Box::new(sink));
        act(&report);
        report.finish();
        let seen = seen.lock().unwrap();
        seen.clone()
    }

    #[test]
    fn secrets_cut_in_two_do_not_get_through() {
        let text = reported(&["hunter2"], 1000, |report| {
            report.push(Stream::Out, b"pw=hun");
            report.push(Stream::Out, b"ter2 ok hunt");
            report.line("and hunter2");
        });
        // A line of our own does not wait for a program that stopped in the middle of a word.
        assert_eq!(text, "pw=*** ok and ***\nhunt");
    }

    #[test]
    fn text_is_valid_and_bounded() {
        let text = reported(&[], 8, |report| {
            report.push(Stream::Out, b"begin \xff\xc3");
            report.push(Stream::Out, b"\xa4 and a middle that nobody needs, end\0");
        });
        assert!(text.starts_with("begin "), "{text}");
        assert!(text.contains("bytes left out"), "{text}");
        assert!(text.ends_with("end\u{fffd}"), "{text}");
    }

    #[test]
    fn tails_are_of_the_last_program_only() {
        reported(&["s3cret"], 100, |report| {
            report.push(Stream::Out, b"one s3cret\n");
            report.flush();
            assert_eq!(report.take_tail(Stream::Out), "one ***\n");
            report.push(Stream::Out, b"two");
            assert_eq!(report.take_tail(Stream::Out), "two");
        });
    }
}
