//! Text output of what changes: instances that run, grouped over equal nodes, and their inputs old and new.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use stoker_api_types::plans::{DifferenceView, InputChangeView};

use super::summary::write_group;
use crate::remote::sanitize;
use crate::text::{collapse_whitespace, counted};

const REMOVED: Style = AnsiColor::Red.on_default();
const ADDED: Style = AnsiColor::Green.on_default();
/// Indentation of reasons and differences.
const INDENT: &str = "       ";
/// Maximum length of a printed line of a value, in characters.
const LINE_CHARS_MAX: usize = 400;

pub(super) fn write_change(out: &mut String, change: &InputChangeView) {
    let nodes: Vec<String> = change.nodes.iter().map(|uid| sanitize(uid)).collect();
    let nodes: Vec<&str> = nodes.iter().map(String::as_str).collect();
    let reason = sanitize(&collapse_whitespace(&change.reason));
    write_group(out, "run", &sanitize(&change.task), &nodes, change.n_nodes as usize, &reason);
    write_differences(out, &change.differences, change.n_differences);
}

/// Writes the first of `n_differences`.
pub(super) fn write_differences(out: &mut String, differences: &[DifferenceView], n_differences: u32) {
    for difference in differences {
        write_difference(out, difference);
    }
    let n_more = (n_differences as usize).saturating_sub(differences.len());
    if n_more > 0 {
        _ = writeln!(out, "{INDENT}and {}", counted(n_more, "more difference"));
    }
}

/// Writes the path, and the lines that are removed and added. Equal lines at both ends are context.
fn write_difference(out: &mut String, difference: &DifferenceView) {
    _ = writeln!(out, "{INDENT}{}:", sanitize(&difference.path));
    let lines = |value: &Option<String>| -> Vec<String> {
        value.as_deref().map(|text| text.lines().map(shorten).collect()).unwrap_or_default()
    };
    let (old, new) = (lines(&difference.old), lines(&difference.new));
    // The value of a changed secret looks the same on both sides, but is not.
    let is_masked = old == new;
    let n_before =
        if is_masked { 0 } else { old.iter().zip(&new).take_while(|(old, new)| old == new).count() };
    let rest = if is_masked { 0 } else { old.len().min(new.len()) - n_before };
    let n_after =
        old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(old, new)| old == new).count();
    let (old_end, new_end) = (old.len() - n_after, new.len() - n_after);
    for line in &old[..n_before] {
        _ = writeln!(out, "{INDENT}    {line}");
    }
    for line in &old[n_before..old_end] {
        _ = writeln!(out, "{INDENT}  {REMOVED}- {line}{REMOVED:#}");
    }
    for line in &new[n_before..new_end] {
        _ = writeln!(out, "{INDENT}  {ADDED}+ {line}{ADDED:#}");
    }
    for line in &old[old_end..] {
        _ = writeln!(out, "{INDENT}    {line}");
    }
}

fn shorten(line: &str) -> String {
    let line = sanitize(line);
    if line.chars().count() <= LINE_CHARS_MAX {
        return line;
    }
    let short: String = line.chars().take(LINE_CHARS_MAX - 1).collect();
    format!("{short}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(old: Option<&str>, new: Option<&str>) -> String {
        let difference = DifferenceView {
            path: "cmd".to_owned(),
            old: old.map(str::to_owned),
            new: new.map(str::to_owned),
        };
        let mut out = String::new();
        write_difference(&mut out, &difference);
        let text = anstream::adapter::strip_str(&out).to_string();
        let lines: Vec<&str> = text.lines().skip(1).map(|line| line.strip_prefix(INDENT).unwrap()).collect();
        lines.join("|")
    }

    #[test]
    fn differences_show_changed_lines_between_context() {
        assert_eq!(text(Some("a"), Some("b")), "  - a|  + b");
        assert_eq!(text(None, Some("b")), "  + b");
        assert_eq!(text(Some("a"), None), "  - a");
        assert_eq!(text(Some("1\na\n3"), Some("1\nb\nc\n3")), "    1|  - a|  + b|  + c|    3");
        assert_eq!(text(Some("a\na"), Some("a")), "    a|  - a");
    }

    #[test]
    fn changed_secret_is_shown_although_both_sides_look_the_same() {
        assert_eq!(text(Some("-p (secret)"), Some("-p (secret)")), "  - -p (secret)|  + -p (secret)");
    }

    #[test]
    fn values_cannot_inject_escape_sequences() {
        assert_eq!(text(None, Some("\u{1b}[2Jx")), "  + [2Jx");
        assert!(text(None, Some(&"x".repeat(9999))).ends_with("x…"));
    }
}
