//! Compares responses and classifies known, accepted differences.

use stoker_yaql::Value;
use stoker_yaql::json::{WriteOptions, parse, write};

/// A difference between two responses: the error class of each, or `ok` for a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) theirs: String,
    pub(crate) ours: String,
}

/// Returns the outcome of a response: `ok` and the value, or the error class and an empty string.
pub(crate) fn outcome(answer: &str) -> (String, String) {
    match parse(answer) {
        Ok(answer) => outcome_of(&answer),
        Err(_) => ("not JSON".to_owned(), answer.to_owned()),
    }
}

/// Returns the outcome of a parsed response.
pub(crate) fn outcome_of(answer: &Value) -> (String, String) {
    let Some(answer) = answer.as_map() else { return ("not an object".to_owned(), String::new()) };
    if let Some(class) = answer.get_str("err").and_then(Value::as_str) {
        return (class.to_owned(), String::new());
    }
    let value = answer.get_str("ok").cloned().unwrap_or_default();
    ("ok".to_owned(), write(&value, &WriteOptions::default()).unwrap_or_default())
}

pub(crate) fn difference(theirs: &str, ours: &str) -> Option<Difference> {
    let (their_class, their_value) = outcome(theirs);
    let (our_class, our_value) = outcome(ours);
    if their_class == our_class && their_value == our_value {
        return None;
    }
    Some(Difference { theirs: their_class, ours: our_class })
}

/// Reports whether a list literal or a call that creates a collection has an empty slot.
pub(crate) fn has_omitted_element(expression: &str) -> bool {
    let dense: String = expression.split_whitespace().collect();
    if ["set(,", "list(,", "append(,"].iter().any(|call| dense.contains(call)) {
        return true;
    }
    let mut open = Vec::new();
    let mut last = ' ';
    for letter in expression.chars().filter(|letter| !letter.is_whitespace()) {
        match letter {
            '(' | '[' | '{' => open.push(letter),
            ')' | ']' | '}' => _ = open.pop(),
            ',' if open.last() == Some(&'[') && matches!(last, '[' | ',') => return true,
            _ => {}
        }
        last = letter;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_and_values_are_compared() {
        assert!(difference("{\"ok\": 1}", "{\"ok\": 1}").is_none());
        assert!(difference("{\"ok\": 1}", "{\"ok\": 1.0}").is_some());
        assert!(difference("{\"ok\": 0.0}", "{\"ok\": -0.0}").is_some());
        assert!(difference("{\"err\": \"KeyError\", \"msg\": \"a\"}", "{\"err\": \"KeyError\"}").is_none());
        assert!(difference("{\"err\": \"KeyError\"}", "{\"err\": \"IndexError\"}").is_some());
    }

    #[test]
    fn omitted_list_elements_are_detected() {
        assert!(has_omitted_element("[ ,1]"));
        assert!(has_omitted_element("f([1, , 2])"));
        assert!(!has_omitted_element("f(, 1, , [2, 3])"));
    }
}
