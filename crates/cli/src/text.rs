//! Small things about text that people read; the language has some of them too.

pub(crate) use stoker_yaql::people::{one_line, shortened};

/// `1 task`, `2 tasks`.
pub(crate) fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// A problem of a plan, in which a key that is not there is called so: the language says the key alone.
pub(crate) fn missing_key(problem: &str) -> String {
    match problem.split_once(": '") {
        Some((place, rest)) if place.starts_with("task `") && rest.contains("' in `") => {
            format!("{place}: there is no key '{rest}")
        }
        _ => problem.to_owned(),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

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
