//! Secrets, removed from whatever is reported.

use std::sync::Arc;

use stoker_model::{Json, JsonMap};

/// What stands where a secret stood.
const SHOWN: &str = "***";

/// The secrets of one attempt.
#[derive(Clone, Debug)]
pub struct Mask {
    secrets: Arc<Secrets>,
}

#[derive(Debug)]
struct Secrets {
    /// Longest first, so that of two that begin alike nothing of the longer one stays.
    texts: Vec<Vec<u8>>,
    /// Whether some secret begins with that byte.
    first: [bool; 256],
}

/// A stream being masked.
#[derive(Debug)]
pub(super) struct Masking {
    secrets: Arc<Secrets>,
    /// May be the beginning of a secret.
    held: Vec<u8>,
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
        Masking { secrets: Arc::clone(&self.secrets), held: Vec::new() }
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

    /// A number can be a secret too; it is compared as it is written.
    fn json(&self, value: Json) -> Json {
        match value {
            Json::String(text) => Json::String(self.text(&text)),
            Json::Array(items) => items.into_iter().map(|item| self.json(item)).collect(),
            Json::Object(map) => Json::Object(self.map(map)),
            Json::Number(number) => {
                let written = number.to_string();
                let masked = self.text(&written);
                if masked == written { Json::Number(number) } else { Json::String(masked) }
            }
            other => other,
        }
    }
}

enum Found {
    Secret(usize),
    /// More bytes would tell.
    Perhaps,
    Nothing,
}

impl Secrets {
    fn at(&self, rest: &[u8], is_last: bool) -> Found {
        if !self.first[usize::from(rest[0])] {
            return Found::Nothing;
        }
        for text in &self.texts {
            if rest.starts_with(text) {
                return Found::Secret(text.len());
            }
            if !is_last && text.starts_with(rest) {
                return Found::Perhaps;
            }
        }
        Found::Nothing
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
        let mut all = std::mem::take(&mut self.held);
        all.extend_from_slice(bytes);
        let mut plain = Vec::with_capacity(all.len());
        let mut at = 0;
        while at < all.len() {
            match self.secrets.at(&all[at..], is_last) {
                Found::Secret(length) => {
                    plain.extend_from_slice(SHOWN.as_bytes());
                    at += length;
                }
                Found::Perhaps => break,
                Found::Nothing => {
                    plain.push(all[at]);
                    at += 1;
                }
            }
        }
        self.held = all.split_off(at);
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
    fn whole_texts() {
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
        fn no_secret_gets_through_however_it_is_cut(
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
