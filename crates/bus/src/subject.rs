//! Subjects: words separated by dots.

use std::fmt;

/// The text is not a valid subject.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a subject; use words of letters, digits, `-` and `_`, separated by dots")]
pub struct SubjectError(String);

/// Address of a message.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subject(String);

/// Subscription pattern: a subject in which `*` matches any one word, and a final `>` one or more words.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubjectPattern(String);

impl Subject {
    /// Validates each word, so user input can be part of a subject without addressing another one.
    pub fn new<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<Self, SubjectError> {
        join(words, is_word).map(Self)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl SubjectPattern {
    pub fn new<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<Self, SubjectError> {
        let words: Vec<&str> = words.into_iter().collect();
        let last = words.len().saturating_sub(1);
        let text = words.join(".");
        let is_valid = !words.is_empty()
            && words
                .iter()
                .enumerate()
                .all(|(at, word)| is_word(word) || *word == "*" || (*word == ">" && at == last));
        if is_valid { Ok(Self(text)) } else { Err(SubjectError(text)) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn matches(&self, subject: &Subject) -> bool {
        let mut words = subject.0.split('.');
        for expected in self.0.split('.') {
            match (expected, words.next()) {
                (">", Some(_)) => return true,
                ("*", Some(_)) => {}
                (expected, Some(word)) if expected == word => {}
                _ => return false,
            }
        }
        words.next().is_none()
    }
}

impl From<Subject> for SubjectPattern {
    fn from(subject: Subject) -> Self {
        Self(subject.0)
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn join<'a>(
    words: impl IntoIterator<Item = &'a str>,
    is_valid: impl Fn(&str) -> bool,
) -> Result<String, SubjectError> {
    let words: Vec<&str> = words.into_iter().collect();
    let text = words.join(".");
    if !words.is_empty() && words.iter().all(|word| is_valid(word)) {
        Ok(text)
    } else {
        Err(SubjectError(text))
    }
}

fn is_word(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(text: &str) -> Subject {
        Subject::new(text.split('.')).expect("a subject")
    }

    #[test]
    fn patterns_match_word_by_word() {
        let cases = [
            ("a.b", "a.b", true),
            ("a.b", "a.b.c", false),
            ("a.b.c", "a.b", false),
            ("a.*", "a.b", true),
            ("a.*", "a.b.c", false),
            ("*.b", "a.b", true),
            ("a.>", "a.b.c", true),
            ("a.>", "a", false),
            (">", "a", true),
        ];
        for (pattern, text, is_match) in cases {
            let pattern = SubjectPattern::new(pattern.split('.')).expect("a pattern");
            assert_eq!(pattern.matches(&subject(text)), is_match, "{pattern:?} {text}");
        }
    }

    #[test]
    fn invalid_words_are_rejected() {
        for word in ["", "a.b", "*", ">", "a b", "ä", "a\n"] {
            assert!(Subject::new(["agent", word]).is_err(), "{word:?}");
        }
        assert!(SubjectPattern::new(["a", ">", "b"]).is_err());
        assert!(SubjectPattern::new([]).is_err());
    }
}
