//! Masking of secrets in texts of a plan.

use stoker_state::is_secret;
use stoker_yaql::Value;

/// Replaces a secret.
pub(super) const MASK: &str = "(secret)";

const LEN_MAX: usize = 80;

/// A value as short text with secrets masked, truncated to [`LEN_MAX`] characters.
pub(super) fn masked_text(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text, LEN_MAX + 1);
    if text.chars().count() <= LEN_MAX {
        return text;
    }
    let short: String = text.chars().take(LEN_MAX).collect();
    format!("{short}…")
}

/// Appends a value; stops early once the text exceeds `len_max`.
fn write(value: &Value, text: &mut String, len_max: usize) {
    if text.len() > len_max {
        return;
    }
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(flag) => text.push_str(if *flag { "true" } else { "false" }),
        Value::Int(number) => text.push_str(&number.to_string()),
        Value::BigInt(number) => text.push_str(&number.to_string()),
        Value::Float(number) => text.push_str(&number.to_string()),
        Value::Str(content) => {
            text.push('"');
            text.extend(content.chars().take(len_max).flat_map(char::escape_debug));
            text.push('"');
        }
        Value::Tuple(items) | Value::List(items) => list(items.iter(), text, len_max),
        Value::Set(items) => list(items.iter(), text, len_max),
        Value::FrozenDict(map) | Value::Dict(map) => {
            text.push('{');
            for (entry_idx, (key, value)) in map.iter().enumerate() {
                if text.len() > len_max {
                    return;
                }
                text.push_str(if entry_idx > 0 { ", " } else { "" });
                let name = key.as_str().map_or_else(|| masked_text(key), str::to_owned);
                text.push_str(&name);
                text.push_str(": ");
                if is_secret(&name) {
                    text.push_str(MASK);
                } else {
                    write(value, text, len_max);
                }
            }
            text.push('}');
        }
        other => text.push_str(other.type_name()),
    }
}

fn list<'v>(items: impl Iterator<Item = &'v Value>, text: &mut String, len_max: usize) {
    text.push('[');
    for (item_idx, item) in items.enumerate() {
        if text.len() > len_max {
            return;
        }
        text.push_str(if item_idx > 0 { ", " } else { "" });
        write(item, text, len_max);
    }
    text.push(']');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_at_any_depth() {
        let value = stoker_yaql::json::parse(r#"{"a": [{"password": "x1", "b": 1}], "k": "y"}"#).unwrap();
        assert_eq!(masked_text(&value), r#"{a: [{password: (secret), b: 1}], k: "y"}"#);
        let long = Value::tuple(vec![Value::from("x".repeat(500)); 500]);
        assert_eq!(masked_text(&long).chars().count(), 81);
    }
}
