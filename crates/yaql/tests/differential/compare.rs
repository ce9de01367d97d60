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

/// Returns the reason why a difference is accepted, if it is. Each rule is as narrow as possible.
pub(crate) fn accepted_difference(
    expression: &str,
    theirs: &str,
    ours: &str,
    difference: &Difference,
) -> Option<&'static str> {
    let theirs = theirs.to_lowercase();
    match difference.theirs.as_str() {
        // The engine bounds work by steps and does not use the C stack; the limits of the reference differ.
        "Timeout" => return Some("the reference timed out"),
        "MemoryError" => return Some("the reference ran out of memory"),
        "RecursionError" => return Some("the reference ran out of stack"),
        "UnicodeEncodeError" => return Some("an unpaired surrogate"),
        _ => {}
    }
    if theirs.contains("0x7f") {
        return Some("the address of an object in its text");
    }
    if ours.contains("<generator object>") {
        return Some("the text of an iterator");
    }
    let prints = ["str", "join", "replace", "concat"].iter().any(|name| expression.contains(name));
    if prints && expression.contains("len") && difference.theirs == difference.ours {
        return Some("the length of the text of an iterator");
    }
    // The marker of an omitted element is not a value; the results of operations on it are arbitrary.
    if ours.contains("NoValue") || theirs.contains("novalue") || has_omitted_element(expression) {
        return Some("an omitted element of a list");
    }
    // Offsets of a day or more fail on use; inside containers we compare without using them.
    if theirs.contains("offset must be a timedelta strictly") && difference.ours == "ok" {
        return Some("an offset out of range inside a container");
    }
    // As keys, the reference distinguishes individual NaN objects; we treat all NaNs as equal.
    if expression.contains("nan") && difference.theirs == "ok" && difference.ours == "ok" {
        return Some("NaN as a key");
    }
    // A list created by splitting is over-allocated in the reference, which counts when it is repeated.
    if difference.theirs == "MemoryQuotaExceededException" && ours.contains("index-sized integer") {
        return Some("an over-allocated list");
    }
    // Ranges of the legacy library are a separate kind of sequence in the reference.
    if expression.contains("range(") && ours.contains("unhashable type: 'list'") {
        return Some("a legacy range as a key");
    }
    if expression.contains("range(") && theirs.contains("convert to c ssize_t") {
        return Some("the length of a legacy range exceeds a machine word");
    }
    if theirs.contains("complex") || ours.contains("complex result") {
        return Some("a complex number");
    }
    // Without output conversion lazy values are returned as they are, with types specific to the reference.
    if theirs.contains("{\"$yaql\": \"opaque\"") {
        return Some("an object of the host");
    }
    if has_unpaired_surrogate(&theirs) || expression.to_lowercase().contains("\\ud8") {
        return Some("an unpaired surrogate");
    }
    let selects = ["search(", "searchAll(", "replaceBy("].iter().any(|name| expression.contains(name));
    if selects && expression.contains("(?P<") {
        return Some("a selector with named groups");
    }
    None
}

/// Reports whether a list literal or a call that creates a collection has an empty slot.
fn has_omitted_element(expression: &str) -> bool {
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

/// Reports whether the text contains an escaped unpaired surrogate.
fn has_unpaired_surrogate(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find("\\ud") {
        let (high, next) = (rest.as_bytes().get(at + 3), rest.get(at + 6..at + 10));
        let is_high = high.is_some_and(|letter| b"89ab".contains(letter));
        if high.is_some_and(|letter| b"cdef".contains(letter)) {
            return true;
        }
        if is_high {
            let paired =
                next.is_some_and(|next| next.starts_with("\\ud") && next.ends_with(['c', 'd', 'e', 'f']));
            if !paired {
                return true;
            }
            rest = &rest[at + 12..];
        } else {
            rest = &rest[at + 3..];
        }
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

    #[test]
    fn unpaired_surrogates_are_detected() {
        assert!(has_unpaired_surrogate("\"\\ud83d\""));
        assert!(has_unpaired_surrogate("\"\\ude00\""));
        assert!(!has_unpaired_surrogate("\"\\ud83d\\ude00\""));
        assert!(!has_unpaired_surrogate("\"\\ud7ff\""));
    }
}
