//! Text helpers for human-readable output.

pub(crate) use stoker_yaql::presentation::{collapse_whitespace, truncate_line};

/// Returns `1 task`, `2 tasks` and so on.
pub(crate) fn counted(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// Wraps text at word boundaries to at most `chars_max` characters per line, each line indented by `indent` spaces.
pub(crate) fn wrap(text: &str, chars_max: Option<u16>, indent: usize) -> String {
    const ROOM_MIN: usize = 20;
    let room =
        chars_max.map_or(usize::MAX, |chars_max| usize::from(chars_max).saturating_sub(indent).max(ROOM_MIN));
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(last) if last.chars().count() + 1 + word.chars().count() <= room => {
                last.push(' ');
                last.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    let blanks = " ".repeat(indent);
    lines.iter().map(|line| format!("{blanks}{line}")).collect::<Vec<_>>().join("\n")
}

/// Joins the lines of each paragraph, so that the terminal can wrap them. Indented lines are kept unchanged.
pub(crate) fn unwrap_paragraphs(text: &str) -> String {
    let is_paragraph = |line: &str| !line.is_empty() && !line.starts_with(' ');
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        match lines.last_mut() {
            Some(last) if is_paragraph(last) && is_paragraph(line) => {
                last.push(' ');
                last.push_str(line);
            }
            _ => lines.push(line.to_owned()),
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unwrap_joins_paragraphs_and_keeps_indented_lines() {
        let text = "One\ntwo.\n\nThree:\n  four\n  five\nsix\nseven";
        assert_eq!(unwrap_paragraphs(text), "One two.\n\nThree:\n  four\n  five\nsix seven");
        assert_eq!(unwrap_paragraphs(""), "");
    }

    #[test]
    fn wrap_breaks_only_between_words() {
        let cases = [
            ("", Some(80), ""),
            ("a  b", None, "  a b"),
            ("nine wörds of text in a narrow place", Some(24), "  nine wörds of text in\n  a narrow place"),
            ("a-word-that-is-longer-than-the-line b", Some(9), "  a-word-that-is-longer-than-the-line\n  b"),
        ];
        for (text, chars_max, expected) in cases {
            assert_eq!(wrap(text, chars_max, 2), expected);
        }
    }
}
