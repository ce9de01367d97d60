//! Answers as tables that fit the terminal.

use serde_json::Value as Json;

use super::grid::draw;
use crate::terminal;

/// Title, and where in a thing its value is, with dots between keys.
pub(crate) type Columns<'a> = &'a [(&'a str, &'a str)];

/// A line for each thing.
pub(crate) fn list(columns: Columns<'_>, things: &[Json]) -> String {
    let rows: Vec<Vec<String>> =
        things.iter().map(|thing| columns.iter().map(|(_, path)| cell(at(thing, path))).collect()).collect();
    // What nothing has takes room from what there is.
    let is_used = |idx: usize| idx == 0 || rows.iter().any(|row| !row[idx].is_empty());
    let used: Vec<usize> = (0..columns.len()).filter(|idx| is_used(*idx)).collect();
    let header: Vec<&str> = used.iter().map(|idx| columns[*idx].0).collect();
    grid(&header, rows.iter().map(|row| used.iter().map(|idx| row[*idx].clone()).collect()))
}

/// A line for each value of one thing; what it does not have is left out.
pub(crate) fn details(columns: Columns<'_>, thing: &Json) -> String {
    let rows = columns.iter().map(|(title, path)| vec![(*title).to_owned(), cell(at(thing, path))]);
    grid(&["field", "value"], rows.filter(|row| !row[1].is_empty()))
}

/// Any table.
pub(crate) fn grid(header: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    draw(header, &rows.collect::<Vec<_>>(), terminal::width())
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
        Json::Number(number) => {
            let text = number.to_string();
            text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
        }
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
            (json!([4000.0, 0.5, 10]), "4000, 0.5, 10"),
        ];
        for (value, expected) in cases {
            assert_eq!(cell(&value), expected, "{value}");
        }
    }
}
