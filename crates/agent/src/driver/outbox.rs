//! Messages that wait for a connection that can take them.

use std::collections::VecDeque;

use stoker_engine::session::FromAgent;

/// Output beyond this is dropped, the oldest first: the end of a task is worth more than what it printed.
const OUTPUT_BYTES_MAX: usize = 4 << 20;

/// Of one message with all ends in it. The rest follows in messages of its own.
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

    /// The first message of the next connection says everything again, but for output.
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
            // Before everything that has waited.
            FromAgent::Hello(mut hello) => {
                let mut n_bytes = 0;
                let fits = |finished: &stoker_engine::session::Finished| {
                    n_bytes += 200
                        + finished
                            .summary
                            .iter()
                            .map(|(key, value)| key.len() + value.to_string().len())
                            .sum::<usize>();
                    n_bytes <= HELLO_BYTES_MAX
                };
                let n_fit = hello.finished.iter().map(fits).take_while(|is_fit| *is_fit).count();
                let rest = hello.finished.split_off(n_fit);
                // What is not spoken of here would be taken for forgotten before its end has come.
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
            let Some(oldest) =
                self.messages.iter().position(|message| matches!(message, FromAgent::Output { .. }))
            else {
                return;
            };
            if let Some(FromAgent::Output { text, .. }) = self.messages.remove(oldest) {
                self.n_output_bytes -= text.len();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use stoker_engine::session::{AttemptKey, End, Finished, Hello, Stream};
    use stoker_model::{JsonMap, Micros, RunId};

    use super::*;

    const KEY: AttemptKey = AttemptKey { run: RunId(1), instance: 1, attempt: 1 };

    fn output(n_bytes: usize) -> FromAgent {
        FromAgent::Output { key: KEY, stream: Stream::Out, offset: 0, text: "x".repeat(n_bytes) }
    }

    fn finished(n_bytes: usize) -> Finished {
        let summary = JsonMap::from_iter([("a".to_owned(), "x".repeat(n_bytes).into())]);
        Finished { key: KEY, at: Micros(0), end: End::Succeeded, summary }
    }

    #[test]
    fn output_waits_for_the_next_connection_and_the_rest_is_said_again_by_the_session() {
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
    fn output_that_nobody_takes_is_bounded() {
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
    fn a_greeting_is_first_and_not_too_large() {
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
        };
        outbox.push(FromAgent::Hello(hello));
        let Some(FromAgent::Hello(hello)) = outbox.pop() else { panic!() };
        assert_eq!((hello.finished.len(), hello.running.len()), (1, 1));
        assert_eq!(outbox.pop(), Some(output(3)));
        assert!(matches!(outbox.pop(), Some(FromAgent::Finished(_))));
    }
}
