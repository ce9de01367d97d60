//! `stoker registry matrix`: compatibility matrix.

use std::fmt::Write as _;

use clap::ValueEnum;
use pulldown_cmark_escape::escape_html;
use stoker_model::Json;
use stoker_registry::components::{Cell, ComponentConflict, Registry};

use super::offline::Source;
use crate::exit::Outcome;
use crate::printer::Printer;

/// Show which components or subtypes conflict, as a matrix
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A cell compares each component of its row with each of its column: `X` all pairs conflict, `~` some do, empty none do,
`·` there are no pairs. JSON output has the keys `subtypes` and `cells`; with `--by components`, `components` instead
of `subtypes`, and `conflicts` with reasons.

Examples:
  stoker registry matrix --release release.yaml --plugin contrail/ calico.fp
  stoker registry matrix --release release.yaml --by components --output html > matrix.html")]
pub(super) struct Args {
    #[command(flatten)]
    source: Source,

    /// Rows and columns of the matrix: `subtypes` or `components`
    #[arg(long, value_name = "AXIS", hide_possible_values = true, default_value = "subtypes")]
    by: Axis,

    /// Output format: `table`, `json` or `html`
    #[arg(long, short, value_name = "FORMAT", hide_possible_values = true, default_value = "table")]
    output: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Axis {
    Subtypes,
    Components,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Table,
    Json,
    Html,
}

pub(super) fn run(args: &Args, printer: &mut Printer) -> Outcome {
    let registry = args.source.read(printer)?.registry;
    for finding in registry.findings() {
        printer.note(&format!("warning: {}", registry.explain(finding)));
    }
    let grid = Grid::new(&registry, args.by);
    let text = match args.output {
        Format::Table => grid.table(),
        Format::Json => format!("{:#}", grid.json()),
        Format::Html => grid.html(),
    };
    Ok(printer.data(&text)?)
}

struct Grid {
    by: Axis,
    names: Vec<String>,
    cells: Vec<Vec<Cell>>,
    /// Conflicting pairs of components with their reasons.
    reasons: Vec<([usize; 2], String)>,
}

impl Grid {
    fn new(registry: &Registry, by: Axis) -> Self {
        if by == Axis::Subtypes {
            let matrix = registry.matrix();
            let names = matrix.subtypes.iter().map(ToString::to_string).collect();
            return Self { by, names, cells: matrix.cells, reasons: Vec::new() };
        }
        let matrix = registry.component_matrix();
        let mut reasons = Vec::new();
        for (row_idx, row) in matrix.cells.iter().enumerate() {
            for column_idx in (row_idx + 1..row.len()).filter(|idx| row[*idx] == Cell::Conflict) {
                let components = [row_idx, column_idx].map(|idx| matrix.components[idx].name.clone());
                let reason = registry.explain(&ComponentConflict::Incompatible { components });
                reasons.push(([row_idx, column_idx], reason));
            }
        }
        let names = matrix.components.iter().map(|component| component.name.to_string()).collect();
        Self { by, names, cells: matrix.cells, reasons }
    }

    /// Renders the matrix as a table. Columns are headed by row numbers, because names are long.
    fn table(&self) -> String {
        let name_width = self.names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let width = self.names.len().to_string().len();
        let mut text = format!("{:width$}  {:name_width$}", "", "");
        for number in 1..=self.names.len() {
            _ = write!(text, " {number:>width$}");
        }
        text.push('\n');
        for (row_idx, (name, row)) in self.names.iter().zip(&self.cells).enumerate() {
            _ = write!(text, "{:>width$}  {name:name_width$}", row_idx + 1);
            for cell in row {
                _ = write!(text, " {:>width$}", cell.as_str());
            }
            text.truncate(text.trim_end_matches(' ').len());
            text.push('\n');
        }
        for ([first, second], reason) in &self.reasons {
            _ = writeln!(text, "{} × {}: {reason}", self.names[*first], self.names[*second]);
        }
        text
    }

    fn json(&self) -> Json {
        let cells =
            self.cells.iter().map(|row| row.iter().map(|cell| Json::from(cell.as_str())).collect::<Json>());
        let names: Json = self.names.iter().map(|name| Json::from(name.as_str())).collect();
        let key = if self.by == Axis::Subtypes { "subtypes" } else { "components" };
        let mut fields = vec![(key.to_owned(), names), ("cells".to_owned(), cells.collect())];
        if self.by == Axis::Components {
            let conflict = |([first, second], reason): &([usize; 2], String)| {
                let pair: Json =
                    [first, second].map(|idx| Json::from(self.names[*idx].as_str())).into_iter().collect();
                [("components".to_owned(), pair), ("reason".to_owned(), Json::from(reason.as_str()))]
                    .into_iter()
                    .collect::<Json>()
            };
            fields.push(("conflicts".to_owned(), self.reasons.iter().map(conflict).collect()));
        }
        fields.into_iter().collect()
    }

    fn html(&self) -> String {
        let mut body = String::from("<tr><td></td>");
        for number in 1..=self.names.len() {
            _ = write!(body, "<th scope=\"col\">{number}</th>");
        }
        body.push_str("</tr>\n");
        for (row_idx, (name, row)) in self.names.iter().zip(&self.cells).enumerate() {
            _ = write!(body, "<tr><th scope=\"row\">{} {}</th>", row_idx + 1, escape(name));
            for (column_idx, cell) in row.iter().enumerate() {
                let pair = [row_idx.min(column_idx), row_idx.max(column_idx)];
                let reason =
                    self.reasons.iter().find(|(conflict, _)| *conflict == pair).map(|(_, reason)| reason);
                let both = format!("{} × {}", self.names[pair[0]], self.names[pair[1]]);
                let title = reason.map_or(both, Clone::clone);
                let (class, symbol) = match cell {
                    Cell::Compatible => ("free", ""),
                    Cell::Mixed => ("mixed", "~"),
                    Cell::Conflict => ("conflict", "X"),
                    Cell::Empty => ("none", "·"),
                };
                _ = write!(body, "<td class=\"{class}\" title=\"{}\">{symbol}</td>", escape(&title));
            }
            body.push_str("</tr>\n");
        }
        format!("{HTML_HEAD}<table>\n{body}</table>\n</body>\n</html>\n")
    }
}

const HTML_HEAD: &str = "<!doctype html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<title>Compatibility</title>
<style>
body { font: 14px system-ui, sans-serif; margin: 2em; }
table { border-collapse: collapse; }
th, td { border: 1px solid #bbb; padding: 4px 8px; text-align: center; }
th[scope=row] { text-align: left; font-weight: normal; }
.conflict { background: #f6c4c0; } .mixed { background: #fbe7b5; } .free { background: #d9f0dc; } .none { color: #999; }
</style>
</head>
<body>
<h1>Compatibility</h1>
<p>X: all pairs conflict. ~: some pairs conflict. Empty: no conflict. ·: no pair.</p>
";

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    // Writing to a `String` cannot fail.
    _ = escape_html(&mut escaped, text);
    escaped
}
