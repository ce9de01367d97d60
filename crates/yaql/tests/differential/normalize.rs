//! Normalization of values whose differences are known.

/// Replaces each text of an iterator or a context, which Python YAQL gives with its module and address, by one mark.
pub(crate) fn without_addresses(text: &str) -> String {
    let mut normalized = String::new();
    for c in text.chars() {
        if c == '>'
            && names_an_object(&normalized)
            && let Some(start) = opening(&normalized)
        {
            normalized.truncate(start);
            normalized.push_str("<object>");
        } else {
            normalized.push(c);
        }
    }
    normalized
}

/// Reports whether a text ends with ` object` or with an address.
fn names_an_object(text: &str) -> bool {
    let stem = text.trim_end_matches(|c: char| c.is_ascii_hexdigit());
    text.ends_with(" object") || stem.len() < text.len() && stem.ends_with(" at 0x")
}

/// Returns the position of the innermost `<` that is not closed.
fn opening(text: &str) -> Option<usize> {
    let mut n_closed = 0_usize;
    text.rmatch_indices(['<', '>']).find_map(|(at, bracket)| match (bracket, n_closed) {
        ("<", 0) => Some(at),
        ("<", _) => {
            n_closed -= 1;
            None
        }
        _ => {
            n_closed += 1;
            None
        }
    })
}

/// Replaces numbers and booleans outside of texts by one mark, so that only their positions are compared.
pub(crate) fn without_scalars(text: &str) -> String {
    let mut normalized = String::new();
    for (idx, part) in unescaped_quotes(text).into_iter().enumerate() {
        if idx % 2 == 1 {
            normalized.push_str(part);
            continue;
        }
        let words = part.split_inclusive(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '+' | '-')));
        for word in words {
            let scalar = word.trim_end_matches(|c: char| !(c.is_alphanumeric() || c == '.'));
            let is_scalar = !scalar.is_empty() && scalar != "null";
            normalized.push_str(&if is_scalar { word.replacen(scalar, "#", 1) } else { word.to_owned() });
        }
    }
    normalized
}

/// Splits JSON text at the quotes of its strings: every second part is the content of a string.
fn unescaped_quotes(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut is_escaped) = (0, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Reports whether an expression contains an escaped surrogate.
pub(crate) fn has_surrogate(expression: &str) -> bool {
    let lower = expression.to_lowercase();
    lower
        .match_indices("\\ud")
        .any(|(at, mark)| lower[at + mark.len()..].starts_with(['8', '9', 'a', 'b', 'c', 'd', 'e', 'f']))
}

/// Returns the largest number of brackets that are open at the same position.
pub(crate) fn nesting(expression: &str) -> usize {
    let mut depth = 0_usize;
    let depths = expression.chars().map(|c| {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth
    });
    depths.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_replaced() {
        assert_eq!(without_addresses("a <map object at 0x7f1> b"), "a <object> b");
        assert_eq!(without_addresses("<a.b.Context object at 0x7f1>"), without_addresses("<Context object>"));
        assert_eq!(without_addresses("<function <lambda> at 0x1f><x at 0x2>"), "<object><object>");
        assert_eq!(without_addresses("look at 0x2 > <a>"), "look at 0x2 > <a>");
    }

    #[test]
    fn scalars_outside_of_texts_are_replaced() {
        assert_eq!(without_scalars("[1, -2.5e+3, true, null, \"1 \\\" 2\"]"), "[#, #, #, null, 1 \\\" 2]");
        assert_eq!(without_scalars("{\"a1\": false}"), "{a1: #}");
    }

    #[test]
    fn surrogates_and_nesting_are_counted() {
        assert!(has_surrogate("'\\uD83d'") && !has_surrogate("'\\ud7ff'"));
        assert_eq!(nesting("f([1, (2)], {a => (3)})"), 3);
    }
}
