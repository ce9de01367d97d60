//! The HTML frame of a page: head, contents, links to neighbours.

use std::fmt::Write as _;

use pulldown_cmark_escape::escape_html;

use super::render::up;
use super::summary::{Entry, Summary};

pub(super) fn page(
    entry: &Entry,
    body: &str,
    summary: &Summary,
    before: Option<&Entry>,
    after: Option<&Entry>,
) -> String {
    let base = up(&entry.target);
    let title = escaped(&entry.title);
    let contents = contents(entry, summary, &base);
    let step = |entry: Option<&Entry>, rel: &str, arrow: &str| {
        entry.map_or_else(String::new, |entry| {
            format!("<a rel=\"{rel}\" href=\"{base}{}\">{arrow} {}</a>", entry.target, escaped(&entry.title))
        })
    };
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title} · Stoker</title>\n<link rel=\"stylesheet\" href=\"{base}book.css\">\n</head>\n<body>\n\
         <nav aria-label=\"Contents\">\n<p class=\"name\">Stoker</p>\n{contents}</nav>\n\
         <main>\n{body}\n<footer>{}{}</footer>\n</main>\n</body>\n</html>\n",
        step(before, "prev", "←"),
        step(after, "next", "→"),
    )
}

fn contents(current: &Entry, summary: &Summary, base: &str) -> String {
    let mut html = String::new();
    for part in &summary.parts {
        if !part.title.is_empty() {
            _ = writeln!(html, "<p class=\"part\">{}</p>", escaped(&part.title));
        }
        html.push_str("<ul>\n");
        for entry in &part.entries {
            let mark = if entry == current { " aria-current=\"page\"" } else { "" };
            _ = writeln!(
                html,
                "<li><a href=\"{base}{}\"{mark}>{}</a></li>",
                entry.target,
                escaped(&entry.title)
            );
        }
        html.push_str("</ul>\n");
    }
    html
}

fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    // Writing to a `String` cannot fail.
    _ = escape_html(&mut html, text);
    html
}
