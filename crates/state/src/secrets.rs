//! Masking of secret values.

use std::borrow::Cow;
use std::collections::BTreeSet;

use stoker_model::{Json, JsonMap};

use crate::secret_names::is_secret;

/// Replaces a secret.
const MASK: &str = "(secret)";
/// Shorter values occur by chance inside other words; they are masked only as whole words.
const PIECE_CHARS_MIN: usize = 6;
/// Long values may be displayed truncated: this many leading characters identify one.
const HEAD_CHARS: usize = 24;
/// Minimum length of a value under a key such as `password` to be masked everywhere else too; short ones such
/// as `admin` would match ordinary words.
const UNDER_KEY_CHARS_MIN: usize = 8;

/// Secret values of documents: settings of type `password`, and values under keys that name a secret.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Secrets(BTreeSet<String>);

impl Secrets {
    /// Collects the secrets of documents.
    pub fn from_documents<'d>(documents: impl IntoIterator<Item = &'d JsonMap>) -> Self {
        let mut secrets = Self::default();
        for document in documents {
            secrets.add(document);
        }
        secrets
    }

    /// From the [`Self::values`] of another set.
    pub fn from_values<'v>(values: impl IntoIterator<Item = &'v str>) -> Self {
        Self(values.into_iter().map(str::to_owned).collect())
    }

    /// Adds the secrets of a document, at any depth.
    pub fn add(&mut self, document: &JsonMap) {
        for (key, value) in document {
            self.find(value, is_secret(key));
        }
    }

    fn find(&mut self, value: &Json, has_secret_key: bool) {
        match value {
            Json::String(_) | Json::Number(_) if has_secret_key => {
                if let Some(secret) = as_text(value)
                    && secret.chars().count() >= UNDER_KEY_CHARS_MIN
                {
                    self.insert(&secret);
                }
            }
            Json::Object(map) => {
                if map.get("type").is_some_and(|setting_type| setting_type == "password")
                    && let Some(secret) = map.get("value").and_then(as_text)
                {
                    self.insert(&secret);
                }
                // Only `value` of a setting is secret; the map also contains its label and description.
                let is_setting = map.contains_key("value");
                for (key, inner) in map {
                    let has_secret_key = has_secret_key && (!is_setting || key == "value");
                    self.find(inner, has_secret_key || is_secret(key));
                }
            }
            Json::Array(items) => items.iter().for_each(|item| self.find(item, has_secret_key)),
            _ => {}
        }
    }

    /// The union of both sets.
    #[must_use]
    pub fn union(mut self, others: Self) -> Self {
        self.0.extend(others.0);
        self
    }

    pub fn values(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    fn insert(&mut self, secret: &str) {
        // Surrounding whitespace is often stripped before a value is displayed.
        for text in [secret, secret.trim()].into_iter().filter(|text| !text.is_empty()) {
            self.0.insert(text.to_owned());
            // The form in which quoted text displays it.
            self.0.insert(text.escape_debug().to_string());
        }
        // Lists and diffs display a multi-line key line by line, each with a prefix.
        if secret.trim().contains('\n') {
            self.0
                .extend(secret.lines().map(str::trim).filter(|line| is_secret_line(line)).map(str::to_owned));
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text with all secrets masked.
    pub fn mask_text(&self, text: &str) -> String {
        if self.0.contains(text) {
            return MASK.to_owned();
        }
        // Longest first: a long secret may contain a short one.
        let mut secrets: Vec<&String> = self.0.iter().filter(|secret| text.contains(head(secret))).collect();
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        secrets.into_iter().fold(text.to_owned(), |text, secret| mask_one(&text, secret))
    }

    /// Masks all strings in a document, and all values under keys that name a secret.
    pub fn mask(&self, value: &mut Json) {
        match value {
            Json::String(text) => *text = self.mask_text(text),
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

/// A string, or a number as written: an unquoted PIN is as secret as a quoted one.
fn as_text(value: &Json) -> Option<Cow<'_, str>> {
    match value {
        Json::String(text) => Some(text.into()),
        Json::Number(number) => Some(number.to_string().into()),
        _ => None,
    }
}

/// Whether a line of a multi-line secret is itself secret: long enough, and not a PEM header or footer.
fn is_secret_line(line: &str) -> bool {
    line.chars().count() >= UNDER_KEY_CHARS_MIN && !line.starts_with("-----")
}

/// The first [`HEAD_CHARS`] characters of a secret.
fn head(secret: &str) -> &str {
    secret.char_indices().nth(HEAD_CHARS).map_or(secret, |(end, _)| &secret[..end])
}

/// Masks one secret in a text.
fn mask_one(text: &str, secret: &str) -> String {
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
    fn password_settings_are_masked_everywhere() {
        let mut secrets = Secrets::default();
        secrets.add(&object(json!({"settings": {
            "access": {"pin": {"type": "password", "value": "1234"}, "user": {"type": "text", "value": "ada"}},
            "mail": {"entry": {"type": "password", "value": "correct horse"}, "none": {"type": "password", "value": ""}},
        }})));
        let mut document = json!({"a": "1234", "b": ["pin 1234, not 12345", "--pass 'correct horse' ada"], "c": {"d": "ada"}});
        secrets.mask(&mut document);
        let expected = json!({"a": "(secret)", "b": ["pin (secret), not 12345", "--pass '(secret)' ada"], "c": {"d": "ada"}});
        assert_eq!(document, expected);
    }

    #[test]
    fn values_under_secret_keys_are_masked_everywhere() {
        let mut secrets = Secrets::default();
        secrets.add(&object(json!({
            "mysql": {"root_password": "wsrepsecret", "user": "administrator"},
            "access": {"password": {"value": "longer than it looks", "label": "Password of the administrator"}},
            "short": {"password": "admin"},
        })));
        let mut document = json!({
            "data": "root: wsrepsecret\nuser: administrator\nadmin",
            "db_password": "admin",
            "env": ["P=longer than it looks"],
            "timeout": 5,
        });
        secrets.mask(&mut document);
        let expected = json!({
            "data": "root: (secret)\nuser: administrator\nadmin",
            "db_password": "(secret)",
            "env": ["P=(secret)"],
            "timeout": 5,
        });
        assert_eq!(document, expected);
    }

    #[test]
    fn numeric_secrets_are_masked() {
        let mut secrets = Secrets::default();
        secrets.add(&object(json!({
            "pin": {"type": "password", "value": 4711}, "off": {"type": "password", "value": false},
            "db": {"password": 123_456_789, "root_password": {"value": 987_654_321}, "key_size": 4096},
        })));
        assert_eq!(
            secrets.mask_text("4711 147110 mysql -p123456789 987654321 4096 false"),
            "(secret) 147110 mysql -p(secret) (secret) 4096 false"
        );
    }

    #[test]
    fn multi_line_secrets_are_masked_line_by_line() {
        let key = "-----BEGIN KEY-----\nb3BlbnNzaC1rZXk\n  AAAAdzc2gtcnNh\nshort\n-----END KEY-----\n";
        let mut secrets = Secrets::default();
        secrets.add(&object(json!({"a": {"private_key": key}, "b": {"type": "password", "value": " pw\n"}})));
        assert_eq!(
            secrets.mask_text("+-----BEGIN KEY-----\n+b3BlbnNzaC1rZXk\n+AAAAdzc2gtcnNh\n+short"),
            "+-----BEGIN KEY-----\n+(secret)\n+(secret)\n+short"
        );
        assert_eq!(secrets.mask_text(key), "(secret)");
        assert_eq!(secrets.mask_text("login pw now"), "login (secret) now");
    }

    #[test]
    fn truncated_and_quoted_secrets_are_masked() {
        let long = "0123456789abcdef".repeat(8);
        let mut secrets = Secrets::default();
        secrets.add(&object(json!({"a": {"type": "password", "value": long}})));
        secrets.add(&object(json!({"b": {"type": "password", "value": "with \"quotes\" in it"}})));
        assert_eq!(secrets.mask_text(&format!("from \"{}…\"", &long[..80])), "from \"(secret)…\"");
        assert_eq!(secrets.mask_text(r#"to "with \"quotes\" in it" now"#), r#"to "(secret)" now"#);
        assert_eq!(secrets.mask_text("0123456789"), "0123456789");
    }
}
