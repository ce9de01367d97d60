//! Read-only fields of requests: part of responses, and accepted in an update only with the stored values.
//!
//! Clients read a resource, change a field and send all of it back. A value that differs asks for a change that the operation
//! cannot make, so it is an error instead of being ignored.

use serde::Serialize;
use stoker_diagnostics::Diagnostics;
use stoker_manifest::codes;
use stoker_manifest::reader;
use stoker_model::Json;
use stoker_yaml::Node;

/// Maximum number of characters of a value in a message.
const SHOWN_CHARS_MAX: usize = 60;

/// Reports each of these keys of a map whose value differs from the stored resource.
pub(crate) fn compare(
    node: &Node,
    keys: &[&'static str],
    stored: &impl Serialize,
    problems: &mut Diagnostics,
) {
    let entries = node.as_map().unwrap_or_default();
    let sent = |key: &&'static str| entries.iter().find(|(name, _)| name.as_str() == Some(*key));
    let mut sent = keys.iter().filter_map(|key| Some((*key, &sent(key)?.1))).peekable();
    if sent.peek().is_none() {
        return;
    }
    // A view consists of strings, numbers and documents, so it always serializes.
    let stored = serde_json::to_value(stored).unwrap_or_default();
    for (key, value) in sent {
        problems.in_key(key, |problems| {
            let Some(sent) = reader::json(value, problems) else { return };
            let expected = stored.get(key).unwrap_or(&Json::Null);
            if sent != *expected {
                let message = format!(
                    "cannot change {} to {}: the field is read-only",
                    excerpt(expected),
                    excerpt(&sent)
                );
                problems
                    .error(codes::READ_ONLY, value.span, message)
                    .set_help("omit the field, or send the stored value");
            }
        });
    }
}

fn excerpt(value: &Json) -> String {
    let text = value.to_string();
    if text.chars().count() <= SHOWN_CHARS_MAX {
        return format!("`{text}`");
    }
    let start: String = text.chars().take(SHOWN_CHARS_MAX).collect();
    format!("`{start}…`")
}
