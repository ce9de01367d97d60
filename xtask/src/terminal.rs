//! Colour where a person looks, plain text everywhere else.

use std::env;
use std::io::{self, IsTerminal as _};

#[derive(Clone, Copy)]
pub(crate) enum Style {
    Bold,
    Dim,
    Good,
    Bad,
    Notice,
}

/// Wraps text in a style when standard output is a terminal and `NO_COLOR` is not set.
/// Colour repeats what the words say; it never carries meaning alone.
pub(crate) fn paint(style: Style, text: &str) -> String {
    let wanted = io::stdout().is_terminal() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    if !wanted {
        return text.to_owned();
    }
    let code = match style {
        Style::Bold => "1",
        Style::Dim => "2",
        Style::Good => "32",
        Style::Bad => "31;1",
        Style::Notice => "33",
    };
    format!("\u{1b}[{code}m{text}\u{1b}[0m")
}
