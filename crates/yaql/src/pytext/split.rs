//! `str.split` and `str.rsplit`.

use super::chars::is_space;
use crate::error::{Error, Result};

/// Returns `text.split(separator, max)`: splits at runs of whitespace if there is no separator, at most `max`
/// times from the left; a negative `max` means no limit.
pub fn split<'t>(text: &'t str, separator: Option<&str>, max: i64) -> Result<Vec<&'t str>> {
    let cuts = usize::try_from(max);
    Ok(match (checked(separator)?, cuts) {
        (Some(separator), Ok(cuts)) => text.splitn(cuts.saturating_add(1), separator).collect(),
        (Some(separator), Err(_)) => text.split(separator).collect(),
        (None, Ok(cuts)) => words(text, cuts),
        (None, Err(_)) => text.split(is_space).filter(|part| !part.is_empty()).collect(),
    })
}

/// Returns `text.rsplit(separator, max)`: like [`split`], from the right.
pub fn rsplit<'t>(text: &'t str, separator: Option<&str>, max: i64) -> Result<Vec<&'t str>> {
    let cuts = usize::try_from(max).unwrap_or(usize::MAX);
    let mut parts: Vec<&str> = match checked(separator)? {
        Some(separator) => text.rsplitn(cuts.saturating_add(1), separator).collect(),
        None => words_from_right(text, cuts),
    };
    parts.reverse();
    Ok(parts)
}

fn checked(separator: Option<&str>) -> Result<Option<&str>> {
    match separator {
        Some("") => Err(Box::new(Error::value("empty separator"))),
        other => Ok(other),
    }
}

/// Splits at whitespace from the left; the last part keeps its trailing whitespace.
fn words(text: &str, cuts: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text.trim_start_matches(is_space);
    while !rest.is_empty() {
        let end = if parts.len() < cuts { rest.find(is_space) } else { None };
        let (word, tail) = rest.split_at(end.unwrap_or(rest.len()));
        parts.push(word);
        rest = tail.trim_start_matches(is_space);
    }
    parts
}

/// Splits at whitespace from the right, last part first; the last part returned keeps its leading whitespace.
fn words_from_right(text: &str, cuts: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text.trim_end_matches(is_space);
    while !rest.is_empty() {
        let blank = if parts.len() < cuts { rest.char_indices().rfind(|&(_, c)| is_space(c)) } else { None };
        let (head, word) = rest.split_at(blank.map_or(0, |(at, c)| at + c.len_utf8()));
        parts.push(word);
        rest = head.trim_end_matches(is_space);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_and_rsplit() {
        // Text, separator, cuts, from the left, from the right.
        type Case<'t> = (&'t str, Option<&'t str>, i64, &'t [&'t str], &'t [&'t str]);
        let cases: &[Case] = &[
            ("a b  c", None, -1, &["a", "b", "c"], &["a", "b", "c"]),
            ("  a  b  ", None, 1, &["a", "b  "], &["  a", "b"]),
            ("  a b  ", None, 0, &["a b  "], &["  a b"]),
            (" a ", None, 5, &["a"], &["a"]),
            ("a\u{3000}é\u{1c}b", None, -1, &["a", "é", "b"], &["a", "é", "b"]),
            ("a\u{3000}é\u{1c}b", None, 1, &["a", "é\u{1c}b"], &["a\u{3000}é", "b"]),
            ("", None, -1, &[], &[]),
            ("  ", None, -1, &[], &[]),
            ("  ", None, 0, &[], &[]),
            ("a,b,c", Some(","), 1, &["a", "b,c"], &["a,b", "c"]),
            ("a,b,c", Some(","), 0, &["a,b,c"], &["a,b,c"]),
            ("a,,b", Some(","), -1, &["a", "", "b"], &["a", "", "b"]),
            (",", Some(","), i64::MAX, &["", ""], &["", ""]),
            ("", Some(","), -1, &[""], &[""]),
            ("aaa", Some("aa"), -1, &["", "a"], &["a", ""]),
        ];
        for &(text, separator, max, left, right) in cases {
            assert_eq!(split(text, separator, max).expect(text), left, "{text:?} {max}");
            assert_eq!(rsplit(text, separator, max).expect(text), right, "{text:?} {max}");
        }
        assert_eq!(split("ab", Some(""), -1).expect_err("empty").message, "empty separator");
        assert!(rsplit("ab", Some(""), 0).is_err());
    }
}
