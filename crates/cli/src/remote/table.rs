//! Tables of resources.

use serde_json::Value as Json;

use super::grid::draw;
use crate::terminal;

/// Column title, and the dot-separated path of its value in a resource.
pub(crate) type Columns<'a> = &'a [(&'a str, &'a str)];

/// Renders one line per resource.
pub(crate) fn list(columns: Columns<'_>, resources: &[Json]) -> String {
    let rows: Vec<Vec<String>> = resources
        .iter()
        .map(|resource| columns.iter().map(|(_, path)| cell(value_at(resource, path))).collect())
        .collect();
    // Omit empty columns.
    let is_used = |idx: usize| idx == 0 || rows.iter().any(|row| !row[idx].is_empty());
    let used: Vec<usize> = (0..columns.len()).filter(|idx| is_used(*idx)).collect();
    let header: Vec<&str> = used.iter().map(|idx| columns[*idx].0).collect();
    grid(&header, rows.iter().map(|row| used.iter().map(|idx| row[*idx].clone()).collect()))
}

/// Renders one line per field of a resource; absent fields are omitted.
pub(crate) fn details(columns: Columns<'_>, resource: &Json) -> String {
    let rows = columns.iter().map(|(title, path)| vec![(*title).to_owned(), cell(value_at(resource, path))]);
    grid(&["field", "value"], rows.filter(|row| !row[1].is_empty()))
}

/// Renders a table that fits the terminal.
pub(crate) fn grid(header: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    draw(header, &rows.collect::<Vec<_>>(), terminal::width())
}

fn value_at<'j>(resource: &'j Json, path: &str) -> &'j Json {
    path.split('.').fold(resource, |value, key| &value[key])
}

/// Renders a value as human-readable text.
pub(crate) fn cell(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::Bool(true) => "yes".to_owned(),
        Json::Bool(false) => "no".to_owned(),
        Json::String(text) => display(text),
        Json::Array(items) => items.iter().map(cell).collect::<Vec<_>>().join(", "),
        Json::Object(entries) => {
            let entry = |(key, value): (&String, &Json)| format!("{}={}", sanitize(key), cell(value));
            entries.iter().map(entry).collect::<Vec<_>>().join(" ")
        }
        Json::Number(number) => {
            let text = number.to_string();
            text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
        }
    }
}

/// Renders text of a response: timestamps without fractions of a second, no control characters.
pub(crate) fn display(text: &str) -> String {
    timestamp(text).unwrap_or_else(|| sanitize(text))
}

/// Formats a timestamp without fractions of a second: `2026-01-31 07:00:00`.
fn timestamp(text: &str) -> Option<String> {
    const SHAPE: &str = "0000-00-00T00:00:00";
    let seconds = text.get(..SHAPE.len())?;
    let matches_shape = |(letter, shape): (u8, u8)| match shape {
        b'0' => letter.is_ascii_digit(),
        // The module API separates date and time by a space.
        b'T' => matches!(letter, b'T' | b' '),
        _ => letter == shape,
    };
    let rest = text[SHAPE.len()..].trim_end_matches('Z');
    let is_fraction =
        rest.is_empty() || (rest.starts_with('.') && rest[1..].bytes().all(|it| it.is_ascii_digit()));
    let is_timestamp = is_fraction && seconds.bytes().zip(SHAPE.bytes()).all(matches_shape);
    is_timestamp.then(|| seconds.replace('T', " "))
}

/// Removes control characters, so that untrusted text cannot inject terminal escape sequences.
pub(crate) fn sanitize(text: &str) -> String {
    text.chars().filter(|letter| *letter == '\n' || !letter.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn cells_are_human_readable() {
        let cases = [
            (json!(null), ""),
            (json!(true), "yes"),
            (json!(["a", 1, false]), "a, 1, no"),
            (json!({"rack": "7", "row": null}), "rack=7 row="),
            (json!("a\u{1b}[31mb"), "a[31mb"),
            (json!("2026-01-31T07:00:00.123456"), "2026-01-31 07:00:00"),
            (json!("2026-01-31T07:00:00Z"), "2026-01-31 07:00:00"),
            (json!("2026-01-31 07:00:00.123456"), "2026-01-31 07:00:00"),
            (json!("2026-01-31 07:00:00 or later"), "2026-01-31 07:00:00 or later"),
            (json!("2026-01-31_07:00:00"), "2026-01-31_07:00:00"),
            (json!("2026-01-31T07:00:00 or later"), "2026-01-31T07:00:00 or later"),
            (json!("äöü"), "äöü"),
            (json!([4000.0, 0.5, 10]), "4000, 0.5, 10"),
        ];
        for (value, expected) in cases {
            assert_eq!(cell(&value), expected, "{value}");
        }
    }
}
