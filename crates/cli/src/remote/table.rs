//! Answers as tables that fit the terminal.

use comfy_table::{ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, Width};
use serde_json::Value as Json;

use crate::terminal;

/// Title, and where in a thing its value is, with dots between keys.
pub(crate) type Columns<'a> = &'a [(&'a str, &'a str)];

const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// Blanks after each cell.
const PADDING: u16 = 2;

/// A line for each thing.
pub(crate) fn list(columns: Columns<'_>, things: &[Json]) -> String {
    let header: Vec<String> = columns.iter().map(|(title, _)| (*title).to_owned()).collect();
    let rows: Vec<Vec<String>> =
        things.iter().map(|thing| columns.iter().map(|(_, path)| cell(at(thing, path))).collect()).collect();
    // What nothing has takes room from what there is.
    let is_used = |idx: usize| idx == 0 || rows.iter().any(|row| !row[idx].is_empty());
    let used: Vec<usize> = (0..columns.len()).filter(|idx| is_used(*idx)).collect();
    let of = |row: &[String]| used.iter().map(|idx| row[*idx].clone()).collect();
    grid(of(&header), rows.iter().map(|row| of(row)))
}

/// A line for each value of one thing; what it does not have is left out.
pub(crate) fn details(columns: Columns<'_>, thing: &Json) -> String {
    let rows = columns.iter().map(|(title, path)| vec![(*title).to_owned(), cell(at(thing, path))]);
    grid(vec!["field".to_owned(), "value".to_owned()], rows.filter(|row| !row[1].is_empty()))
}

/// Any table.
pub(crate) fn grid(header: Vec<String>, rows: impl Iterator<Item = Vec<String>>) -> String {
    // Titles stay whole where there is room for all of them, with a blank between columns.
    let titles: Vec<u16> = header.iter().map(|title| title.chars().count() as u16 + PADDING).collect();
    let mut table = Table::new();
    table.load_style(STYLE);
    table.set_header(header).add_rows(rows);
    let width = terminal::width();
    if let Some(width) = width {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    }
    let has_room = width.is_some_and(|width| titles.iter().map(|title| title + 1).sum::<u16>() <= width);
    for (column, title) in table.column_iter_mut().zip(titles) {
        column.set_padding((0, PADDING));
        if has_room {
            column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(title)));
        }
    }
    table.trim_fmt()
}

fn at<'j>(thing: &'j Json, path: &str) -> &'j Json {
    path.split('.').fold(thing, |value, key| &value[key])
}

/// A value in the words of people.
pub(crate) fn cell(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::Bool(true) => "yes".to_owned(),
        Json::Bool(false) => "no".to_owned(),
        Json::String(text) => moment(text).unwrap_or_else(|| plain(text)),
        Json::Array(items) => items.iter().map(cell).collect::<Vec<_>>().join(", "),
        Json::Object(entries) => {
            let entry = |(key, value): (&String, &Json)| format!("{}={}", plain(key), cell(value));
            entries.iter().map(entry).collect::<Vec<_>>().join(" ")
        }
        Json::Number(number) => number.to_string(),
    }
}

/// A moment without its fractions of a second: `2026-01-31 07:00:00`.
fn moment(text: &str) -> Option<String> {
    const SHAPE: &str = "0000-00-00T00:00:00";
    let seconds = text.get(..SHAPE.len())?;
    let is_alike =
        |(letter, shape): (u8, u8)| if shape == b'0' { letter.is_ascii_digit() } else { letter == shape };
    let rest = text[SHAPE.len()..].trim_end_matches('Z');
    let is_fraction =
        rest.is_empty() || (rest.starts_with('.') && rest[1..].bytes().all(|it| it.is_ascii_digit()));
    let is_moment = is_fraction && seconds.bytes().zip(SHAPE.bytes()).all(is_alike);
    is_moment.then(|| seconds.replace('T', " "))
}

/// Text of others cannot steer a terminal.
pub(crate) fn plain(text: &str) -> String {
    text.chars().filter(|letter| *letter == '\n' || !letter.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_words() {
        let cases = [
            (json!(null), ""),
            (json!(true), "yes"),
            (json!(["a", 1, false]), "a, 1, no"),
            (json!({"rack": "7", "row": null}), "rack=7 row="),
            (json!("a\u{1b}[31mb"), "a[31mb"),
            (json!("2026-01-31T07:00:00.123456"), "2026-01-31 07:00:00"),
            (json!("2026-01-31T07:00:00Z"), "2026-01-31 07:00:00"),
            (json!("2026-01-31T07:00:00 or later"), "2026-01-31T07:00:00 or later"),
            (json!("äöü"), "äöü"),
        ];
        for (value, expected) in cases {
            assert_eq!(cell(&value), expected, "{value}");
        }
    }
}
