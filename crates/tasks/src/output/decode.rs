//! Incremental UTF-8 decoding.

/// Buffers an incomplete character at the end of the input. Invalid bytes become `U+FFFD`, and so does NUL,
/// which PostgreSQL rejects in text.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    pending: Vec<u8>,
}

impl Decoder {
    pub(super) fn push(&mut self, bytes: &[u8]) -> String {
        if bytes.is_empty() {
            return String::new();
        }
        self.pending.extend_from_slice(bytes);
        let mut text = String::with_capacity(self.pending.len());
        let mut rest = self.pending.as_slice();
        loop {
            match std::str::from_utf8(rest) {
                Ok(valid) => {
                    text.push_str(valid);
                    rest = &[];
                    break;
                }
                Err(error) => {
                    let (valid, after) = rest.split_at(error.valid_up_to());
                    text.push_str(&String::from_utf8_lossy(valid));
                    // An incomplete character at the end of the input; more bytes may follow.
                    let Some(n_bad) = error.error_len() else {
                        rest = after;
                        break;
                    };
                    text.push(char::REPLACEMENT_CHARACTER);
                    rest = &after[n_bad..];
                }
            }
        }
        self.pending = rest.to_vec();
        if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text }
    }

    /// Decodes the rest; no further input follows.
    pub(super) fn finish(&mut self) -> String {
        let pending = std::mem::take(&mut self.pending);
        String::from_utf8_lossy(&pending).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn chunked_decoding_equals_whole_decoding(bytes in prop::collection::vec(any::<u8>(), 0..80), cuts in prop::collection::vec(0..80_usize, 0..6)) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.sort_unstable();
            let mut decoder = Decoder::default();
            let mut text = String::new();
            let mut from = 0;
            for cut in cuts {
                text.push_str(&decoder.push(&bytes[from..cut]));
                from = cut;
            }
            text.push_str(&decoder.push(&bytes[from..]));
            text.push_str(&decoder.finish());
            prop_assert_eq!(text, String::from_utf8_lossy(&bytes).replace('\0', "\u{fffd}"));
        }
    }
}
