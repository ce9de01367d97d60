//! Chooses a scalar style that is parsed back as the same text.

use std::fmt::Write as _;

use crate::resolve;
use crate::tag::Tag;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    /// `|`, for multi-line text.
    Block,
}

/// Returns the most readable style that is safe.
pub(super) fn style(text: &str) -> Style {
    if text.contains('\n') {
        return if is_block_safe(text) { Style::Block } else { Style::DoubleQuoted };
    }
    if !text.chars().all(is_safe) {
        Style::DoubleQuoted
    } else if is_plain_safe(text) {
        Style::Plain
    } else {
        Style::SingleQuoted
    }
}

/// Writes text in any style except block.
pub(super) fn write_on_line(out: &mut String, text: &str) {
    match style(text) {
        Style::Plain => out.push_str(text),
        Style::SingleQuoted => {
            out.push('\'');
            out.push_str(&text.replace('\'', "''"));
            out.push('\'');
        }
        Style::DoubleQuoted | Style::Block => write_double_quoted(out, text),
    }
}

/// Writes a block scalar: header, lines and final newline.
pub(super) fn write_block(out: &mut String, text: &str, indent: usize) {
    let body = text.trim_end_matches('\n');
    // `|-` and `|` end with one line break, `|+` with all of them.
    let (header, n_breaks) = match text.len() - body.len() {
        0 => ("|-", 1),
        1 => ("|", 1),
        n_breaks => ("|+", n_breaks),
    };
    out.push_str(header);
    for line in body.split('\n') {
        out.push('\n');
        if !line.is_empty() {
            out.extend(std::iter::repeat_n(' ', indent));
            out.push_str(line);
        }
    }
    out.extend(std::iter::repeat_n('\n', n_breaks));
}

pub(super) fn write_double_quoted(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            safe if is_safe(safe) => out.push(safe),
            other => {
                let code = u32::from(other);
                // Writing to a string cannot fail.
                let _ = match code {
                    0..=0xff => write!(out, "\\x{code:02x}"),
                    0x100..=0xffff => write!(out, "\\u{code:04x}"),
                    _ => write!(out, "\\U{code:08x}"),
                };
            }
        }
    }
    out.push('"');
}

/// Reports whether a character is printable and neither a line break nor whitespace (except the space) in any
/// YAML version.
fn is_safe(character: char) -> bool {
    match character {
        ' '..='~' => true,
        '\u{feff}' | '\u{fffe}' | '\u{ffff}' => false,
        other => other > '\u{a0}' && !other.is_whitespace() && !other.is_control(),
    }
}

/// Reports whether text needs no indentation indicator and does not depend on how blank lines are counted.
fn is_block_safe(text: &str) -> bool {
    let body = text.trim_end_matches('\n');
    !body.is_empty()
        && !body.starts_with([' ', '\n'])
        && body.chars().all(|character| character == '\n' || is_safe(character))
        && body.split('\n').all(|line| line.is_empty() || line.bytes().any(|byte| byte != b' '))
}

fn is_plain_safe(text: &str) -> bool {
    let Some(first) = text.chars().next() else { return false };
    !text.starts_with(' ')
        && !text.ends_with([' ', ':'])
        && (!"-?:,[]{}#&*!|>'\"%@`".contains(first) || is_plain_dash(text))
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.starts_with("---")
        && !text.starts_with("...")
        && resolve::implicit(text) == Tag::Str
        && !is_special_elsewhere(text)
}

/// Reports whether text that starts with `-` does not look like a sequence item.
fn is_plain_dash(text: &str) -> bool {
    text.strip_prefix('-').is_some_and(|rest| rest.starts_with(|next: char| next.is_alphanumeric()))
}

/// Reports whether other parsers interpret the text: `y` and `n` in YAML 1.1, numbers in YAML 1.2.
fn is_special_elsewhere(text: &str) -> bool {
    matches!(text, "y" | "Y" | "n" | "N")
        || text.parse::<f64>().is_ok()
        || text.starts_with("0o")
        || text.starts_with("0x")
}
