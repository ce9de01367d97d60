//! One-line summaries of values.

use std::fmt::Write as _;

use crate::Value;

use super::to_json_line;

/// Summarizes a value in about `chars_max` characters on one line. Nested containers are truncated first,
/// then the end of the container; a truncated container shows its length.
pub fn summarize(value: &Value, chars_max: usize) -> String {
    let mut out = String::new();
    write(value, chars_max, &mut out);
    out
}

fn write(value: &Value, chars_max: usize, out: &mut String) {
    match value {
        Value::Tuple(items) | Value::List(items) => {
            write_items(items.iter().map(Item::Value), items.len(), ['[', ']'], chars_max, out);
        }
        Value::Set(set) => {
            out.push_str("set");
            write_items(set.iter().map(Item::Value), set.len(), ['(', ')'], chars_max, out);
        }
        Value::FrozenDict(map) | Value::Dict(map) => {
            write_items(map.iter().map(|(k, v)| Item::Entry(k, v)), map.len(), ['{', '}'], chars_max, out);
        }
        Value::Str(text) => {
            let prefix: String = text.chars().take(chars_max.max(8)).collect();
            let ellipsis = if prefix.len() < text.len() { "…" } else { "" };
            out.push_str(&to_json_line(&Value::str(prefix)));
            out.push_str(ellipsis);
        }
        Value::Iterator(_) | Value::Ordering(_) => out.push_str("‹lazy sequence›"),
        Value::Keys(_) | Value::Items(_) | Value::Values(_) => out.push_str("‹map view›"),
        Value::Context(_) => out.push_str("‹context›"),
        Value::Callable(_) => out.push_str("‹function›"),
        Value::DateTime(moment) => out.push_str(&moment.isoformat().unwrap_or_default()),
        other => match other.to_text(chars_max.max(32)) {
            Ok(_) if matches!(other, Value::Null | Value::Bool(_)) => out.push_str(&to_json_line(other)),
            Ok(text) => out.push_str(&text),
            Err(_) => {
                out.push('‹');
                out.push_str(other.type_name());
                out.push('›');
            }
        },
    }
}

enum Item<'a> {
    Value(&'a Value),
    Entry(&'a Value, &'a Value),
}

fn write_items<'a>(
    items: impl Iterator<Item = Item<'a>>,
    len: usize,
    brackets: [char; 2],
    chars_max: usize,
    out: &mut String,
) {
    out.push(brackets[0]);
    let start = out.chars().count();
    for (item_idx, item) in items.enumerate() {
        if item_idx > 0 {
            out.push_str(", ");
        }
        let used = out.chars().count() - start;
        if used + 4 > chars_max {
            _ = write!(out, "… {len} total");
            break;
        }
        // Each level gets half of the remaining width, so that a summary shows the structure and not only the
        // first leaf.
        let rest = (chars_max - used) / 2;
        match item {
            Item::Value(value) => write(value, rest, out),
            Item::Entry(key, value) => {
                write(key, rest, out);
                out.push_str(": ");
                write(value, rest, out);
            }
        }
    }
    out.push(brackets[1]);
}
