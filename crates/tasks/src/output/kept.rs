//! The beginning and the end of a stream, however long it is.

/// The beginning passes through at once. After it only the end is kept, and told when the stream is over.
#[derive(Debug)]
pub(super) struct Kept {
    bytes_max: usize,
    n_passed: usize,
    end: String,
    n_left_out: usize,
}

impl Kept {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { bytes_max, n_passed: 0, end: String::new(), n_left_out: 0 }
    }

    /// What can be told now.
    pub(super) fn push(&mut self, text: &str) -> String {
        let room = self.bytes_max - self.n_passed;
        let at = text.floor_char_boundary(room.min(text.len()));
        let (now, later) = text.split_at(at);
        self.n_passed += now.len();
        if !later.is_empty() {
            // A character that did not fit closes the beginning: later ones must not overtake it.
            self.n_passed = self.bytes_max;
            self.end.push_str(later);
            if self.end.len() > 2 * self.bytes_max {
                self.trim();
            }
        }
        now.to_owned()
    }

    /// What was held back, with a line about what is missing.
    pub(super) fn finish(&mut self) -> String {
        self.trim();
        let end = std::mem::take(&mut self.end);
        match std::mem::take(&mut self.n_left_out) {
            0 => end,
            n => format!("\n… {n} bytes left out …\n{end}"),
        }
    }

    fn trim(&mut self) {
        if self.end.len() > self.bytes_max {
            let cut = self.end.ceil_char_boundary(self.end.len() - self.bytes_max);
            self.end.drain(..cut);
            self.n_left_out += cut;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kept(bytes_max: usize, pieces: &[&str]) -> String {
        let mut kept = Kept::new(bytes_max);
        let mut told: String = pieces.iter().map(|piece| kept.push(piece)).collect();
        told.push_str(&kept.finish());
        told
    }

    #[test]
    fn both_ends_are_kept() {
        assert_eq!(kept(4, &["abcd", "efgh"]), "abcdefgh");
        assert_eq!(kept(4, &["ab", "cdefg", "hij"]), "abcd\n… 2 bytes left out …\nghij");
        assert_eq!(
            kept(4, &["abcä", "xyz"]),
            "abcäxyz".to_owned().replacen("ä", "\n… 2 bytes left out …\n", 1)
        );
    }

    proptest! {
        #[test]
        fn short_streams_come_through_whole_and_long_ones_are_bounded(pieces in prop::collection::vec("[a-zäß ]{0,9}", 0..20)) {
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            let whole = pieces.concat();
            prop_assert_eq!(kept(whole.len(), &pieces), whole.clone());
            prop_assert!(kept(10, &pieces).len() <= 20 + 40);
            prop_assert!(whole.starts_with(&kept(10, &pieces).split('\n').next().unwrap_or_default().chars().take(3).collect::<String>()));
        }
    }
}
