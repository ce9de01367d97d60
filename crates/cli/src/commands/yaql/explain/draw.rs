//! Renders an explanation as a tree.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

use stoker_yaql::presentation::{ExplainNode, NodeTrace};

use super::Explanation;

const DIM: Style = Style::new().dimmed();
const VALUE: Style = AnsiColor::Cyan.on_default();
const FAILURE: Style = AnsiColor::Red.on_default();

/// Renders with colours, which carry no additional information.
pub(crate) fn draw(explanation: &Explanation) -> String {
    let mut out = String::new();
    draw_part(&explanation.root, "", "", &mut out);
    for (name, body) in &explanation.helpers {
        _ = write!(out, "\nwhere `{name}` is\n");
        draw_part(body, "", "", &mut out);
    }
    out
}

fn draw_part(part: &ExplainNode, head: &str, indent: &str, out: &mut String) {
    _ = writeln!(out, "{DIM}{head}{DIM:#}{}{}", part.text, suffix(part));
    for (part_idx, child) in part.children.iter().enumerate() {
        let is_last = part_idx + 1 == part.children.len();
        let (branch, bar) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        draw_part(child, &format!("{indent}{branch}"), &format!("{indent}{bar}"), out);
    }
}

/// Returns the suffix of a line: the values or the error of a subexpression.
fn suffix(part: &ExplainNode) -> String {
    let NodeTrace { count, values, error } = &part.trace;
    let times = if *count > 1 { format!(" {DIM}× {count}{DIM:#}") } else { String::new() };
    let more = if *count > values.len() && !values.is_empty() && error.is_none() { ", …" } else { "" };
    let value_list = format!("{VALUE}{}{more}{VALUE:#}", values.join(", "));
    match (error, values.is_empty()) {
        (None, true) => format!("   {DIM}(not evaluated){DIM:#}"),
        (None, false) => format!("{times} = {value_list}"),
        // Print the message only where the error originates; enclosing subexpressions just fail.
        (Some(error), _) if !part.children.iter().any(ExplainNode::contains_failure) => {
            let before = if values.is_empty() { String::new() } else { format!(" = {value_list},") };
            format!("{times}{before} {FAILURE}failed: {error}{FAILURE:#}")
        }
        (Some(_), _) => format!("{times} {FAILURE}failed{FAILURE:#}"),
    }
}
