//! Renders several diagnostics as one text.

use std::fmt::{Display, Write as _};

use crate::diagnostic::Diagnostic;

/// Maximum number of listed lines: the same mistake may occur in thousands of tasks.
const LISTED_MAX: usize = 20;

/// Lists diagnostics, one per line, errors first.
pub fn summarize(diagnostics: &[Diagnostic]) -> String {
    let mut ordered: Vec<&Diagnostic> = diagnostics.iter().collect();
    ordered.sort_by_key(|diagnostic| diagnostic.severity);
    list(ordered.into_iter())
}

/// Returns the line itself if there is only one, otherwise the number of lines followed by the first lines.
pub fn list<T: Display>(mut lines: impl ExactSizeIterator<Item = T>) -> String {
    let n_lines = lines.len();
    if n_lines == 1
        && let Some(only) = lines.next()
    {
        return only.to_string();
    }
    let mut text = format!("{n_lines} problems");
    for line in lines.take(LISTED_MAX) {
        _ = write!(text, "\n- {line}");
    }
    if n_lines > LISTED_MAX {
        _ = write!(text, "\n- and {} more", n_lines - LISTED_MAX);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_come_first_and_the_list_is_bounded() {
        let warning = Diagnostic::warning("x", "odd").path("b");
        let error = Diagnostic::error("x", "wrong").path("a");
        assert_eq!(summarize(&[]), "0 problems");
        assert_eq!(summarize(std::slice::from_ref(&error)), "a: wrong");
        assert_eq!(summarize(&[warning, error.clone()]), "2 problems\n- a: wrong\n- b: odd");
        let many = vec![error; 30];
        assert!(summarize(&many).ends_with("\n- and 10 more"));
        assert_eq!(summarize(&many).lines().count(), 22);
    }
}
