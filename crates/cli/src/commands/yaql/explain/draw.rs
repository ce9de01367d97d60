//! An explanation as a tree of lines.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

use stoker_yaql::people::{Part, Seen};

use super::Explanation;

const DIM: Style = Style::new().dimmed();
const VALUE: Style = AnsiColor::Cyan.on_default();
const BAD: Style = AnsiColor::Red.on_default();

/// Draws with colours; the words say everything without them.
pub(crate) fn draw(explanation: &Explanation) -> String {
    let mut out = String::new();
    draw_part(&explanation.root, "", "", &mut out);
    for (name, body) in &explanation.helpers {
        _ = write!(out, "\nwhere `{name}` is\n");
        draw_part(body, "", "", &mut out);
    }
    out
}

fn draw_part(part: &Part, head: &str, indent: &str, out: &mut String) {
    _ = writeln!(out, "{DIM}{head}{DIM:#}{}{}", part.text, remark(part));
    for (part_idx, child) in part.parts.iter().enumerate() {
        let is_last = part_idx + 1 == part.parts.len();
        let (branch, bar) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        draw_part(child, &format!("{indent}{branch}"), &format!("{indent}{bar}"), out);
    }
}

/// What is said behind the text of a part.
fn remark(part: &Part) -> String {
    let Seen { count, values, error } = &part.seen;
    let times = if *count > 1 { format!(" {DIM}× {count}{DIM:#}") } else { String::new() };
    let more = if *count > values.len() && !values.is_empty() && error.is_none() { ", …" } else { "" };
    let shown = format!("{VALUE}{}{more}{VALUE:#}", values.join(", "));
    match (error, values.is_empty()) {
        (None, true) => format!("   {DIM}(not evaluated){DIM:#}"),
        (None, false) => format!("{times} = {shown}"),
        // Where the error began is told in full, further up it only passes through.
        (Some(error), _) if !part.parts.iter().any(Part::holds_failure) => {
            let before = if values.is_empty() { String::new() } else { format!(" = {shown},") };
            format!("{times}{before} {BAD}failed: {error}{BAD:#}")
        }
        (Some(_), _) => format!("{times} {BAD}failed{BAD:#}"),
    }
}
