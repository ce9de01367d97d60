//! Values that must not be shown.

use std::borrow::Cow;
use std::collections::BTreeSet;

use stoker_model::{Json, JsonMap};
use stoker_planner::is_secret;

/// Shown in place of a secret.
const MASK: &str = "(secret)";
/// Shorter values are found by chance inside of other words; they are masked where they are a word of their own.
const PIECE_CHARS_MIN: usize = 6;
/// Long values are shown cut short: so much of the beginning is enough to recognise one.
const HEAD_CHARS: usize = 24;
/// What stands under a key such as `password` is a secret everywhere else, too, unless it is as short as `admin`.
const UNDER_KEY_CHARS_MIN: usize = 8;

/// The values of settings of type `password` in some documents, and what stands under keys that name a secret.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Secrets(BTreeSet<String>);

impl Secrets {
    /// Those of some documents.
    pub fn of<'d>(documents: impl IntoIterator<Item = &'d JsonMap>) -> Self {
        let mut secrets = Self::default();
        for document in documents {
            secrets.add(document);
        }
        secrets
    }

    /// Adds those of a document, wherever in it they stand.
    pub fn add(&mut self, document: &JsonMap) {
        for (key, value) in document {
            self.find(value, is_secret(key));
        }
    }

    fn find(&mut self, value: &Json, is_named: bool) {
        match value {
            Json::String(_) | Json::Number(_) if is_named => {
                if let Some(secret) = written(value)
                    && secret.chars().count() >= UNDER_KEY_CHARS_MIN
                {
                    self.insert(&secret);
                }
            }
            Json::Object(map) => {
                if map.get("type").is_some_and(|kind| kind == "password")
                    && let Some(secret) = map.get("value").and_then(written)
                {
                    self.insert(&secret);
                }
                // Beside the value of a setting stand its label and its description.
                let is_setting = map.contains_key("value");
                for (key, inner) in map {
                    let is_named = is_named && (!is_setting || key == "value");
                    self.find(inner, is_named || is_secret(key));
                }
            }
            Json::Array(items) => items.iter().for_each(|item| self.find(item, is_named)),
            _ => {}
        }
    }

    /// These and others.
    #[must_use]
    pub fn with(mut self, others: Self) -> Self {
        self.0.extend(others.0);
        self
    }

    pub fn values(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    fn insert(&mut self, secret: &str) {
        // What comes before and after it is often lost on the way.
        for text in [secret, secret.trim()].into_iter().filter(|text| !text.is_empty()) {
            self.0.insert(text.to_owned());
            // As texts show it inside of quotes.
            self.0.insert(text.escape_debug().to_string());
        }
        // Lists and differences show a key line by line, each with something in front of it.
        if secret.trim().contains('\n') {
            self.0.extend(secret.lines().map(str::trim).filter(|line| is_telling(line)).map(str::to_owned));
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text with every secret in it masked.
    pub fn masked(&self, text: &str) -> String {
        if self.0.contains(text) {
            return MASK.to_owned();
        }
        // A long secret may have a short one inside.
        let mut secrets: Vec<&String> = self.0.iter().filter(|secret| text.contains(head(secret))).collect();
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        secrets.into_iter().fold(text.to_owned(), |text, secret| without(&text, secret))
    }

    /// Masks all texts in a document, and everything under keys that name a secret.
    pub fn mask(&self, value: &mut Json) {
        match value {
            Json::String(text) => *text = self.masked(text),
            Json::Array(items) => items.iter_mut().for_each(|item| self.mask(item)),
            Json::Object(map) => {
                for (key, inner) in map {
                    match inner {
                        Json::String(_) | Json::Number(_) if is_secret(key) => *inner = Json::from(MASK),
                        inner => self.mask(inner),
                    }
                }
            }
            _ => {}
        }
    }
}

/// A text, or a number as it is written: who does not put quotes around a PIN means the same.
fn written(value: &Json) -> Option<Cow<'_, str>> {
    match value {
        Json::String(text) => Some(text.into()),
        Json::Number(number) => Some(number.to_string().into()),
        _ => None,
    }
}

/// Whether a line of a secret is one itself: neither a word that may be anywhere, nor what all keys begin and end with.
fn is_telling(line: &str) -> bool {
    line.chars().count() >= UNDER_KEY_CHARS_MIN && !line.starts_with("-----")
}

/// The beginning of a secret, or all of a short one.
fn head(secret: &str) -> &str {
    secret.char_indices().nth(HEAD_CHARS).map_or(secret, |(end, _)| &secret[..end])
}

/// The text with one secret masked.
fn without(text: &str, secret: &str) -> String {
    let is_long = secret.chars().count() >= PIECE_CHARS_MIN;
    let mut result = String::with_capacity(text.len());
    let mut copied = 0;
    for (start, _) in text.match_indices(head(secret)) {
        let same = text[start..].chars().zip(secret.chars()).take_while(|(shown, own)| shown == own);
        let end = start + same.map(|(shown, _)| shown.len_utf8()).sum::<usize>();
        let before = text[..start].chars().next_back().is_some_and(char::is_alphanumeric);
        let after = text[end..].chars().next().is_some_and(char::is_alphanumeric);
        if start >= copied && (is_long || (!before && !after)) {
            result.push_str(&text[copied..start]);
            result.push_str(MASK);
            copied = end;
        }
    }
    result.push_str(&text[copied..]);
    result
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::json::object;

    #[test]
    fn passwords_are_masked_wherever_they_stand() {
        let mut secrets = Secrets::default();
        secrets.add(&object(json!({"settings": {
            "access": {"pin": {"type": "password", "value": "1234"}, "user": {"type": "text", "value": "ada"}},
            "mail": {"entry": {"type": "password", "value": "correct horse"}, "none": {"type": "password", "value": ""}},
        }})));
        let mut shown = json!({"a": "1234", "b": ["pin 1234, not 12345", "--pass 'correct horse' ada"], "c": {"d": "ada"}});
        secrets.mask(&mut shown);
        let expected = json!({"a": "(secret)", "b": ["pin (secret), not 12345", "--pass '(secret)' ada"], "c": {"d": "ada"}});
        assert_eq!(shown, expected);
    }

    #[test]
    fn what_a_key_calls_secret_is_secret_everywhere() {
        let mut secrets = Secrets::default();
        secrets.add(&object(json!({
            "mysql": {"root_password": "wsrepsecret", "user": "administrator"},
            "access": {"password": {"value": "longer than it looks", "label": "Password of the administrator"}},
            "short": {"password": "admin"},
        })));
        let mut shown = json!({
            "data": "root: wsrepsecret\nuser: administrator\nadmin",
            "db_password": "admin",
            "env": ["P=longer than it looks"],
            "timeout": 5,
        });
        secrets.mask(&mut shown);
        let expected = json!({
            "data": "root: (secret)\nuser: administrator\nadmin",
            "db_password": "(secret)",
            "env": ["P=(secret)"],
            "timeout": 5,
        });
        assert_eq!(shown, expected);
    }

    #[test]
    fn numbers_are_secrets_as_they_are_written() {
        let mut secrets = Secrets::default();
        secrets.add(&object(json!({
            "pin": {"type": "password", "value": 4711}, "off": {"type": "password", "value": false},
            "db": {"password": 123_456_789, "root_password": {"value": 987_654_321}, "key_size": 4096},
        })));
        assert_eq!(
            secrets.masked("4711 147110 mysql -p123456789 987654321 4096 false"),
            "(secret) 147110 mysql -p(secret) (secret) 4096 false"
        );
    }

    #[test]
    fn a_secret_of_several_lines_is_recognised_line_by_line() {
        let key = "-----BEGIN KEY-----\nb3BlbnNzaC1rZXk\n  AAAAdzc2gtcnNh\nshort\n-----END KEY-----\n";
        let mut secrets = Secrets::default();
        secrets.add(&object(json!({"a": {"private_key": key}, "b": {"type": "password", "value": " pw\n"}})));
        assert_eq!(
            secrets.masked("+-----BEGIN KEY-----\n+b3BlbnNzaC1rZXk\n+AAAAdzc2gtcnNh\n+short"),
            "+-----BEGIN KEY-----\n+(secret)\n+(secret)\n+short"
        );
        assert_eq!(secrets.masked(key), "(secret)");
        assert_eq!(secrets.masked("login pw now"), "login (secret) now");
    }

    #[test]
    fn a_secret_is_recognised_when_it_is_cut_short_or_quoted() {
        let long = "0123456789abcdef".repeat(8);
        let mut secrets = Secrets::default();
        secrets.add(&object(json!({"a": {"type": "password", "value": long}})));
        secrets.add(&object(json!({"b": {"type": "password", "value": "with \"quotes\" in it"}})));
        assert_eq!(secrets.masked(&format!("from \"{}…\"", &long[..80])), "from \"(secret)…\"");
        assert_eq!(secrets.masked(r#"to "with \"quotes\" in it" now"#), r#"to "(secret)" now"#);
        assert_eq!(secrets.masked("0123456789"), "0123456789");
    }
}
