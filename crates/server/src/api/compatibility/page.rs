//! Compatibility matrix as a self-contained HTML page: no scripts, no external resources.

use std::fmt::Write as _;

use stoker_model::NewRelease;
use stoker_registry::components::{Cell, Component, ComponentConflict, Registry};

use crate::api::reference::page::escape;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;margin:2rem;color:#1c2430;background:#fff}\
    table{border-collapse:collapse;margin:1rem 0 2rem}th,td{border:1px solid #c9d1dc;padding:.25rem .5rem;text-align:left}\
    thead th{vertical-align:bottom}thead th span{writing-mode:vertical-rl;transform:rotate(180deg)}\
    td{text-align:center;min-width:1.5rem}td.X{background:#f6c9c4}td.mixed{background:#fbe6b5}td.none{color:#8a94a3}\
    .free{background:#dff2df}small{color:#556070}\
    @media(prefers-color-scheme:dark){body{color:#e6eaf0;background:#14181f}th,td{border-color:#3a4452}\
    td.X{background:#7a2b24}td.mixed{background:#6b5413}.free{background:#1f4a2a}small{color:#9aa6b5}}";

pub(super) fn render(release: &NewRelease, registry: &Registry) -> String {
    let title = escape(&format!("Compatibility in {} ({})", release.name, release.version));
    let mut html = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>{title}</title>\
         <style>{STYLE}</style></head><body><h1>{title}</h1>"
    );
    html.push_str(
        "<p>X: all pairs conflict · ~: some pairs conflict · green: no conflict · dot: no pair</p>",
    );
    let matrix = registry.matrix();
    let subtypes: Vec<String> = matrix.subtypes.iter().map(|subtype| escape(&subtype.to_string())).collect();
    table(&mut html, "Component subtypes", &subtypes, &subtypes, &matrix.cells, &|_, _| String::new());
    let matrix = registry.component_matrix();
    let components = &matrix.components;
    let rows: Vec<String> = components.iter().map(|component| heading(component)).collect();
    let columns: Vec<String> = components.iter().map(|component| escape(&component.label)).collect();
    let explain = |row: usize, column: usize| {
        let names = [components[row].name.clone(), components[column].name.clone()];
        escape(&registry.explain(&ComponentConflict::Incompatible { components: names }))
    };
    table(&mut html, "Components", &rows, &columns, &matrix.cells, &explain);
    requirements(&mut html, registry);
    html.push_str("</body></html>");
    html
}

fn heading(component: &Component) -> String {
    let provider = component.provider.as_str();
    format!(
        "{} <small>{} · {}</small>",
        escape(&component.label),
        escape(&component.name.to_string()),
        escape(provider)
    )
}

/// Appends one matrix as a table. Headings must already be escaped.
fn table(
    html: &mut String,
    title: &str,
    rows: &[String],
    columns: &[String],
    cells: &[Vec<Cell>],
    explain: &dyn Fn(usize, usize) -> String,
) {
    let _ = write!(html, "<h2>{title}</h2><table><thead><tr><td></td>");
    for column in columns {
        let _ = write!(html, "<th scope=\"col\"><span>{column}</span></th>");
    }
    html.push_str("</tr></thead><tbody>");
    for (row, (heading, cells)) in rows.iter().zip(cells).enumerate() {
        let _ = write!(html, "<tr><th scope=\"row\">{heading}</th>");
        for (column, cell) in cells.iter().enumerate() {
            let class = match cell {
                Cell::Compatible => "free",
                Cell::Mixed => "mixed",
                Cell::Conflict => "X",
                Cell::Empty => "none",
            };
            let title = if *cell == Cell::Conflict { explain(row, column) } else { String::new() };
            let _ = write!(html, "<td class=\"{class}\" title=\"{title}\">{}</td>", cell.as_str());
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table>");
}

fn requirements(html: &mut String, registry: &Registry) {
    let components = registry.components().iter();
    let lines: Vec<String> = components
        .flat_map(|component| {
            component
                .requires
                .iter()
                .map(|requirement| registry.describe_requirement(&component.label, requirement))
        })
        .collect();
    if lines.is_empty() {
        return;
    }
    html.push_str("<h2>Requirements</h2><ul>");
    for line in lines {
        let _ = write!(html, "<li>{}</li>", escape(&line));
    }
    html.push_str("</ul>");
}
