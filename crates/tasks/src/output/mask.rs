//! Masking of secrets in output, messages and summaries.

use std::sync::Arc;

use stoker_model::{Json, JsonMap, TaskReport};

/// Replacement for a secret.
const MASK: &str = "***";

/// The secrets of one attempt.
#[derive(Clone, Debug)]
pub struct Mask {
    secrets: Arc<Secrets>,
}

#[derive(Debug)]
struct Secrets {
    /// Secrets, longest first, so that a secret that is a prefix of another does not leave the rest of the
    /// longer secret visible.
    texts: Vec<Vec<u8>>,
    /// Indexed by byte: whether any secret starts with it. Fast rejection.
    first: [bool; 256],
}

/// Masking state of a stream.
#[derive(Debug)]
pub(super) struct Masking {
    secrets: Arc<Secrets>,
    /// Bytes that may be the beginning of a secret.
    pending: Vec<u8>,
}

impl Mask {
    pub fn new(secrets: &[String]) -> Self {
        let mut texts: Vec<Vec<u8>> =
            secrets.iter().filter(|text| !text.is_empty()).map(|text| text.clone().into_bytes()).collect();
        texts.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
        texts.dedup();
        let mut first = [false; 256];
        for text in &texts {
            first[usize::from(text[0])] = true;
        }
        Self { secrets: Arc::new(Secrets { texts, first }) }
    }

    pub(super) fn start(&self) -> Masking {
        Masking { secrets: Arc::clone(&self.secrets), pending: Vec::new() }
    }

    pub fn text(&self, text: &str) -> String {
        if self.secrets.texts.is_empty() {
            return text.to_owned();
        }
        let mut masking = self.start();
        let mut bytes = masking.push(text.as_bytes());
        bytes.extend(masking.finish());
        String::from_utf8_lossy(&bytes).into_owned()
    }

    pub fn map(&self, map: JsonMap) -> JsonMap {
        map.into_iter().map(|(key, value)| (self.text(&key), self.json(value))).collect()
    }

    pub fn report(&self, report: TaskReport) -> TaskReport {
        let diff = report.diff.into_iter().map(|difference| difference.map_texts(|text| self.text(text)));
        TaskReport { summary: self.map(report.summary), changed: report.changed, diff: diff.collect() }
    }

    /// Masks secrets in a JSON value. Numbers can be secrets too; they are compared in their serialized form.
    fn json(&self, value: Json) -> Json {
        match value {
            Json::String(text) => Json::String(self.text(&text)),
            Json::Array(items) => items.into_iter().map(|item| self.json(item)).collect(),
            Json::Object(map) => Json::Object(self.map(map)),
            Json::Number(number) => {
                let serialized = number.to_string();
                let masked = self.text(&serialized);
                if masked == serialized { Json::Number(number) } else { Json::String(masked) }
            }
            other => other,
        }
    }
}

enum Match {
    Secret(usize),
    /// A prefix of a secret; more bytes are needed.
    Partial,
    None,
}

impl Secrets {
    fn at(&self, rest: &[u8], is_last: bool) -> Match {
        if !self.first[usize::from(rest[0])] {
            return Match::None;
        }
        for text in &self.texts {
            if rest.starts_with(text) {
                return Match::Secret(text.len());
            }
            if !is_last && text.starts_with(rest) {
                return Match::Partial;
            }
        }
        Match::None
    }
}

impl Masking {
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.advance(bytes, false)
    }

    pub(super) fn finish(&mut self) -> Vec<u8> {
        self.advance(&[], true)
    }

    fn advance(&mut self, bytes: &[u8], is_last: bool) -> Vec<u8> {
        if self.secrets.texts.is_empty() {
            return bytes.to_vec();
        }
        let mut input = std::mem::take(&mut self.pending);
        input.extend_from_slice(bytes);
        let mut plain = Vec::with_capacity(input.len());
        let mut at = 0;
        while at < input.len() {
            match self.secrets.at(&input[at..], is_last) {
                Match::Secret(length) => {
                    plain.extend_from_slice(MASK.as_bytes());
                    at += length;
                }
                Match::Partial => break,
                Match::None => {
                    plain.push(input[at]);
                    at += 1;
                }
            }
        }
        self.pending = input.split_off(at);
        plain
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn mask(secrets: &[&str]) -> Mask {
        Mask::new(&secrets.iter().map(|secret| (*secret).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn secrets_are_masked_in_text() {
        let cases: &[(&[&str], &str, &str)] = &[
            (&[], "plain", "plain"),
            (&[""], "plain", "plain"),
            (&["ab"], "aab", "a***"),
            (&["ab", "abcd"], "abcd abc", "*** ***c"),
            (&["p\nq"], "x p\nq", "x ***"),
            (&["ä"], "ää", "******"),
        ];
        for (secrets, text, expect) in cases {
            assert_eq!(mask(secrets).text(text), *expect);
        }
    }

    #[test]
    fn summaries_are_masked_in_keys_values_and_numbers() {
        let map = json!({"tok": ["a tok", {"n": 1234, "m": 5}]}).as_object().cloned().unwrap_or_default();
        let masked = mask(&["tok", "1234"]).map(map);
        assert_eq!(Json::Object(masked), json!({"***": ["a ***", {"n": "***", "m": 5}]}));
    }

    proptest! {
        #[test]
        fn secrets_split_across_chunks_are_masked(
            secrets in prop::collection::vec("[ab]{1,4}", 1..4),
            pieces in prop::collection::vec("[abc]{0,6}", 0..8),
        ) {
            let mask = Mask::new(&secrets);
            let mut masking = mask.start();
            let mut plain = Vec::new();
            for piece in &pieces {
                plain.extend(masking.push(piece.as_bytes()));
            }
            plain.extend(masking.finish());
            let plain = String::from_utf8(plain).unwrap();
            for secret in &secrets {
                prop_assert!(!plain.contains(secret.as_str()), "`{}` in `{}`", secret, plain);
            }
            prop_assert_eq!(plain, mask.text(&pieces.concat()));
        }
    }
}
