//! Helpers for single-line text.

/// Collapses each run of whitespace, including line breaks, to one space.
pub fn collapse_whitespace(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Collapses whitespace and truncates to `chars_max` characters.
pub fn truncate_line(text: &str, chars_max: usize) -> String {
    let line = collapse_whitespace(text);
    if line.chars().count() <= chars_max {
        return line;
    }
    let mut short: String = line.chars().take(chars_max.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// Returns the first sentence, with whitespace collapsed.
pub fn first_sentence(text: &str) -> String {
    let line = collapse_whitespace(text);
    let end = line.find(". ").map_or(line.len(), |at| at + 1);
    line[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_collapsed_and_truncated() {
        assert_eq!(collapse_whitespace(" a\n  b\tc "), "a b c");
        assert_eq!(truncate_line("abcdef", 6), "abcdef");
        assert_eq!(truncate_line("äbcdefg", 6), "äbcde…");
        assert_eq!(first_sentence("One, e.g. two. Three."), "One, e.g.");
        assert_eq!(first_sentence("One.\nTwo."), "One.");
    }
}
