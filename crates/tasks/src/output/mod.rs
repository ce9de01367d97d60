//! Output of an attempt: masks secrets, decodes UTF-8, bounds the length.
//!
//! Does no I/O: the creator of a [`OutputReport`] provides the sink.

mod decode;
mod head_tail;
mod mask;

use parking_lot::{Mutex, MutexGuard};
use stoker_engine::session::Stream;

use decode::Decoder;
use head_tail::HeadTail;
pub use mask::Mask;

/// Receives output. The offset is the number of bytes of the stream that were reported before.
pub type Sink = Box<dyn Fn(Stream, u64, String) + Send + Sync>;

/// Number of bytes reported per stream: this many from the beginning and this many from the end.
pub const OUTPUT_HEAD_TAIL_BYTES: usize = 64 << 10;

/// Size of the end of a stream that task types can inspect.
const TAIL_BYTES: usize = 8 << 10;

/// Standard output and standard error of one attempt.
pub struct OutputReport {
    mask: Mask,
    sink: Sink,
    out: Mutex<Channel>,
    err: Mutex<Channel>,
}

struct Channel {
    mask: mask::Masking,
    decoder: Decoder,
    head_tail: HeadTail,
    offset: u64,
    tail: String,
}

impl OutputReport {
    pub fn new(secrets: &[String], kept_bytes: usize, sink: Sink) -> Self {
        let mask = Mask::new(secrets);
        let channel = || {
            Mutex::new(Channel {
                mask: mask.start(),
                decoder: Decoder::default(),
                head_tail: HeadTail::new(kept_bytes),
                offset: 0,
                tail: String::new(),
            })
        };
        Self { out: channel(), err: channel(), mask, sink }
    }

    /// Adds output of a program.
    pub fn push(&self, stream: Stream, bytes: &[u8]) {
        let mut channel = self.channel(stream);
        let plain = channel.mask.push(bytes);
        let text = channel.decoder.push(&plain);
        self.accept(stream, &mut channel, &text);
    }

    /// Adds a line of the agent itself.
    pub fn line(&self, line: &str) {
        let text = format!("{}\n", self.mask.text(line));
        let mut channel = self.channel(Stream::Out);
        self.accept(Stream::Out, &mut channel, &text);
    }

    /// Flushes decoder and mask; called after each program.
    pub fn flush(&self) {
        for stream in [Stream::Out, Stream::Err] {
            let mut channel = self.channel(stream);
            let plain = channel.mask.finish();
            let mut text = channel.decoder.push(&plain);
            text.push_str(&channel.decoder.finish());
            self.accept(stream, &mut channel, &text);
        }
    }

    /// Reports the retained output; called once, after the attempt.
    pub fn finish(&self) {
        self.flush();
        for stream in [Stream::Out, Stream::Err] {
            let mut channel = self.channel(stream);
            let rest = channel.head_tail.finish();
            self.send(stream, &mut channel, rest);
        }
    }

    /// Returns and clears the output since the previous program.
    pub fn take_tail(&self, stream: Stream) -> String {
        std::mem::take(&mut self.channel(stream).tail)
    }

    pub fn mask(&self) -> &Mask {
        &self.mask
    }

    fn accept(&self, stream: Stream, channel: &mut Channel, text: &str) {
        if text.is_empty() {
            return;
        }
        channel.tail.push_str(text);
        if channel.tail.len() > 2 * TAIL_BYTES {
            let cut = channel.tail.ceil_char_boundary(channel.tail.len() - TAIL_BYTES);
            channel.tail.drain(..cut);
        }
        let now = channel.head_tail.push(text);
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
        // A panic elsewhere cannot leave the buffers inconsistent.
        channel.lock()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn reported(secrets: &[&str], bytes_max: usize, act: impl FnOnce(&OutputReport)) -> String {
        let output = Arc::new(Mutex::new(String::new()));
        let sink = {
            let output = Arc::clone(&output);
            move |_: Stream, offset: u64, text: String| {
                let mut output = output.lock();
                assert_eq!(offset, output.len() as u64, "offsets are contiguous");
                output.push_str(&text);
            }
        };
        let secrets: Vec<String> = secrets.iter().map(|secret| (*secret).to_owned()).collect();
        let report = OutputReport::new(&secrets, bytes_max, Box::new(sink));
        act(&report);
        report.finish();
        let output = output.lock();
        output.clone()
    }

    #[test]
    fn split_secrets_are_masked() {
        let text = reported(&["hunter2"], 1000, |report| {
            report.push(Stream::Out, b"pw=hun");
            report.push(Stream::Out, b"ter2 ok hunt");
            report.line("and hunter2");
        });
        // A line of the agent does not wait for pending bytes of a program.
        assert_eq!(text, "pw=*** ok and ***\nhunt");
    }

    #[test]
    fn text_is_valid_and_bounded() {
        let text = reported(&[], 8, |report| {
            report.push(Stream::Out, b"begin \xff\xc3");
            report.push(Stream::Out, b"\xa4 and a middle that nobody needs, end\0");
        });
        assert!(text.starts_with("begin "), "{text}");
        assert!(text.contains("bytes omitted"), "{text}");
        assert!(text.ends_with("end\u{fffd}"), "{text}");
    }

    #[test]
    fn tail_belongs_to_the_last_program() {
        reported(&["s3cret"], 100, |report| {
            report.push(Stream::Out, b"one s3cret\n");
            report.flush();
            assert_eq!(report.take_tail(Stream::Out), "one ***\n");
            report.push(Stream::Out, b"two");
            assert_eq!(report.take_tail(Stream::Out), "two");
        });
    }
}
