//! Bounded retention of the beginning and the end of a stream.

/// Passes the beginning through immediately, then retains only the end until the stream is finished.
#[derive(Debug)]
pub(super) struct HeadTail {
    bytes_max: usize,
    n_passed: usize,
    end: String,
    n_dropped: usize,
}

impl HeadTail {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { bytes_max, n_passed: 0, end: String::new(), n_dropped: 0 }
    }

    /// Returns the text to report now.
    pub(super) fn push(&mut self, text: &str) -> String {
        let room = self.bytes_max - self.n_passed;
        let at = text.floor_char_boundary(room.min(text.len()));
        let (now, later) = text.split_at(at);
        self.n_passed += now.len();
        if !later.is_empty() {
            // A character that did not fit ends the beginning: later text must not overtake it.
            self.n_passed = self.bytes_max;
            self.end.push_str(later);
            if self.end.len() > 2 * self.bytes_max {
                self.trim();
            }
        }
        now.to_owned()
    }

    /// Returns the retained end, preceded by a line with the number of dropped bytes.
    pub(super) fn finish(&mut self) -> String {
        self.trim();
        let end = std::mem::take(&mut self.end);
        match std::mem::take(&mut self.n_dropped) {
            0 => end,
            n => format!("\n… {n} bytes omitted …\n{end}"),
        }
    }

    fn trim(&mut self) {
        if self.end.len() > self.bytes_max {
            let cut = self.end.ceil_char_boundary(self.end.len() - self.bytes_max);
            self.end.drain(..cut);
            self.n_dropped += cut;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn head_tail(bytes_max: usize, pieces: &[&str]) -> String {
        let mut stream = HeadTail::new(bytes_max);
        let mut output: String = pieces.iter().map(|piece| stream.push(piece)).collect();
        output.push_str(&stream.finish());
        output
    }

    #[test]
    fn beginning_and_end_are_retained() {
        assert_eq!(head_tail(4, &["abcd", "efgh"]), "abcdefgh");
        assert_eq!(head_tail(4, &["ab", "cdefg", "hij"]), "abcd\n… 2 bytes omitted …\nghij");
        assert_eq!(
            head_tail(4, &["abcä", "xyz"]),
            "abcäxyz".to_owned().replacen("ä", "\n… 2 bytes omitted …\n", 1)
        );
    }

    proptest! {
        #[test]
        fn short_streams_are_complete_and_long_ones_bounded(pieces in prop::collection::vec("[a-zäß ]{0,9}", 0..20)) {
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            let whole = pieces.concat();
            prop_assert_eq!(head_tail(whole.len(), &pieces), whole.clone());
            prop_assert!(head_tail(10, &pieces).len() <= 20 + 40);
            prop_assert!(whole.starts_with(&head_tail(10, &pieces).split('\n').next().unwrap_or_default().chars().take(3).collect::<String>()));
        }
    }
}
