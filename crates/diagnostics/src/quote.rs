//! User text inside messages.

/// Maximum length of quoted text; longer texts are truncated, so that a message stays readable.
pub(crate) const CHARS_MAX: usize = 60;

pub(crate) fn truncated(text: &str) -> String {
    match text.char_indices().nth(CHARS_MAX) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// Quotes user text for a message: truncated, on one line, in backticks.
pub fn quoted(text: &str) -> String {
    let short = truncated(text);
    let mut escaped = String::with_capacity(short.len() + 2);
    for letter in short.chars() {
        if letter.is_control() { escaped.extend(letter.escape_default()) } else { escaped.push(letter) }
    }
    format!("`{escaped}`")
}

/// Lists choices for a message: `a`, `b` or `c`.
pub fn choices(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match &quoted[..] {
        [] => String::new(),
        [only] => only.clone(),
        [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_text_is_truncated_and_escaped() {
        assert_eq!(quoted("a\nb"), "`a\\nb`");
        assert_eq!(quoted(&"ä".repeat(61)), format!("`{}…`", "ä".repeat(60)));
        assert_eq!(choices(&["a", "b", "c"]), "`a`, `b` or `c`");
    }
}
