//! Queue of messages to the server.

use std::collections::VecDeque;

use stoker_engine::session::FromAgent;

/// Maximum size of queued output in bytes. The oldest output is dropped first: results are more important
/// than output.
const OUTPUT_BYTES_MAX: usize = 4 << 20;

/// Maximum size of the results in one `hello` message, in bytes. The remaining results follow as separate
/// messages.
const HELLO_BYTES_MAX: usize = 4 << 20;

#[derive(Debug, Default)]
pub(super) struct Outbox {
    messages: VecDeque<FromAgent>,
    n_output_bytes: usize,
    is_connected: bool,
}

impl Outbox {
    pub(super) fn connected(&mut self) {
        self.is_connected = true;
    }

    /// Discards all messages except output: the `hello` of the next connection repeats the rest.
    pub(super) fn disconnected(&mut self) {
        self.is_connected = false;
        self.messages.retain(|message| matches!(message, FromAgent::Output { .. }));
    }

    pub(super) fn push(&mut self, message: FromAgent) {
        match message {
            FromAgent::Output { ref text, .. } => {
                self.n_output_bytes += text.len();
                self.messages.push_back(message);
                self.drop_output();
            }
            // Sent before all queued messages.
            FromAgent::Hello(mut hello) => {
                let mut n_bytes = 0;
                let fits = |finished: &stoker_engine::session::AttemptResult| {
                    n_bytes += 200 + finished.report.n_bytes();
                    n_bytes <= HELLO_BYTES_MAX
                };
                let n_fit = hello.finished.iter().map(fits).take_while(|is_fit| *is_fit).count();
                let rest = hello.finished.split_off(n_fit);
                // Listed as running until their results arrive; the server would otherwise consider these
                // attempts lost.
                hello.running.extend(rest.iter().map(|finished| finished.key));
                self.messages.push_front(FromAgent::Hello(hello));
                self.messages.extend(rest.into_iter().map(FromAgent::Finished));
            }
            other if self.is_connected => self.messages.push_back(other),
            _ => {}
        }
    }

    pub(super) fn pop(&mut self) -> Option<FromAgent> {
        let message = self.messages.pop_front()?;
        if let FromAgent::Output { text, .. } = &message {
            self.n_output_bytes -= text.len();
        }
        Some(message)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    fn drop_output(&mut self) {
        while self.n_output_bytes > OUTPUT_BYTES_MAX {
            let Some(position) =
                self.messages.iter().position(|message| matches!(message, FromAgent::Output { .. }))
            else {
                return;
            };
            if let Some(FromAgent::Output { text, .. }) = self.messages.remove(position) {
                self.n_output_bytes -= text.len();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use stoker_engine::session::{AttemptKey, AttemptResult, Hello, ResultKind, Stream};
    use stoker_model::{InstanceIdx, JsonMap, Micros, RunId, TaskReport};

    use super::*;

    const KEY: AttemptKey = AttemptKey { run: RunId(1), instance: InstanceIdx::new(1), attempt: 1 };

    fn output(n_bytes: usize) -> FromAgent {
        FromAgent::Output { key: KEY, stream: Stream::Out, offset: 0, text: "x".repeat(n_bytes) }
    }

    fn finished(n_bytes: usize) -> AttemptResult {
        let summary = JsonMap::from_iter([("a".to_owned(), "x".repeat(n_bytes).into())]);
        let report = TaskReport::of_summary(summary);
        AttemptResult { key: KEY, at: Micros(0), end: ResultKind::Succeeded, report }
    }

    #[test]
    fn only_output_survives_a_disconnect() {
        let mut outbox = Outbox::default();
        outbox.push(output(3));
        outbox.push(FromAgent::Heartbeat);
        outbox.connected();
        outbox.push(FromAgent::Finished(finished(1)));
        outbox.disconnected();
        assert_eq!(outbox.pop(), Some(output(3)));
        assert!(outbox.is_empty());
    }

    #[test]
    fn queued_output_is_bounded() {
        let mut outbox = Outbox::default();
        outbox.connected();
        outbox.push(FromAgent::Finished(finished(1)));
        for _ in 0..10 {
            outbox.push(output(1 << 20));
        }
        assert_eq!(outbox.messages.len(), 5);
        assert!(matches!(outbox.pop(), Some(FromAgent::Finished(_))));
    }

    #[test]
    fn hello_is_first_and_bounded() {
        let mut outbox = Outbox::default();
        outbox.push(output(3));
        outbox.connected();
        let hello = Hello {
            node: "1".into(),
            version: String::new(),
            running: Vec::new(),
            finished: vec![finished(3 << 20), finished(3 << 20)],
            runs: Vec::new(),
            facts: JsonMap::new(),
            journal_id: None,
        };
        outbox.push(FromAgent::Hello(hello));
        let Some(FromAgent::Hello(hello)) = outbox.pop() else { panic!() };
        assert_eq!((hello.finished.len(), hello.running.len()), (1, 1));
        assert_eq!(outbox.pop(), Some(output(3)));
        assert!(matches!(outbox.pop(), Some(FromAgent::Finished(_))));
    }
}
