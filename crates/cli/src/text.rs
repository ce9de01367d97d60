//! Small things about text that people read; the language has some of them too.

pub(crate) use stoker_yaql::people::{one_line, shortened};

/// `1 task`, `2 tasks`.
pub(crate) fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// Text in lines of at most so many characters where words allow it, each after this many blanks.
pub(crate) fn wrapped(text: &str, chars_max: Option<u16>, indent: usize) -> String {
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

/// Paragraphs as lines of their own, for whoever prints them breaks them where there is no more room. Lines that are
/// set in stay as they are.
pub(crate) fn unwrapped(text: &str) -> String {
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
    fn paragraphs_become_lines_and_examples_stay() {
        let text = "One\ntwo.\n\nThree:\n  four\n  five\nsix\nseven";
        assert_eq!(unwrapped(text), "One two.\n\nThree:\n  four\n  five\nsix seven");
        assert_eq!(unwrapped(""), "");
    }

    #[test]
    fn words_stay_whole_and_lines_do_not_grow() {
        let cases = [
            ("", Some(80), ""),
            ("a  b", None, "  a b"),
            ("nine wörds of text in a narrow place", Some(24), "  nine wörds of text in\n  a narrow place"),
            ("a-word-that-is-longer-than-the-line b", Some(9), "  a-word-that-is-longer-than-the-line\n  b"),
        ];
        for (text, chars_max, expected) in cases {
            assert_eq!(wrapped(text, chars_max, 2), expected);
        }
    }
}
