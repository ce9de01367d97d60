//! Suggestions for misspelled names and mismatched arguments.

use std::sync::Arc;

use super::resolve::Failure;
use crate::library::{Library, NameEntry};
use crate::value::{Map, Value};

/// Returns a hint for an unknown function: the method of that name, or a similar name.
pub fn function(library: &Library, name: &str, defined: &[Arc<str>]) -> Option<String> {
    if library.get(name).is_some_and(|entry| !entry.methods.is_empty()) {
        return Some(format!("`{name}` is a method: write `value.{name}(…)`"));
    }
    if matches!(name, "not" | "and" | "or" | "in" | "mod") {
        return Some(format!("write a space after the operator: `{name} (…)`"));
    }
    let names = library.names().filter(|(_, entry)| !entry.functions.is_empty()).map(|(name, _)| name);
    closest_name(name, names.chain(defined.iter().map(|name| &**name)))
        .map(|best| format!("did you mean `{best}`?"))
}

/// Returns a hint for an unknown method.
pub fn method(library: &Library, name: &str) -> Option<String> {
    if library.get(name).is_some_and(|entry| !entry.functions.is_empty()) {
        return Some(format!("`{name}` is a function: write `{name}(value, …)`"));
    }
    let names = library.names().filter(|(_, entry)| !entry.methods.is_empty()).map(|(name, _)| name);
    closest_name(name, names).map(|best| format!("did you mean `{best}`?"))
}

/// Returns a hint for a key that a map lacks.
pub(super) fn key(map: &Map, key: &str) -> String {
    const LISTED_MAX: usize = 8;
    let keys: Vec<&str> = map.iter().take(1000).filter_map(|(key, _)| key.as_str()).collect();
    if let Some(best) = closest_name(key, keys.iter().copied()) {
        return format!("did you mean `{best}`?");
    }
    if keys.is_empty() || keys.len() > LISTED_MAX {
        return "use `.get(key)` where a key may be missing".to_owned();
    }
    format!("available keys: {}", list(&keys))
}

/// Returns a hint for a property of a value that has none.
pub(super) fn no_property(receiver: &Value, key: &str) -> String {
    match receiver {
        Value::Null => format!("the value before `.{key}` is null; `?.` gives null instead of failing"),
        other => format!("the value before `.{key}` is of type {} and has no keys", other.type_name()),
    }
}

/// Returns a hint for arguments that match no overload: the available signatures.
pub(super) fn signatures(library: &Library, name: &str, method: bool, failure: Failure) -> Option<String> {
    if failure == Failure::BadName {
        return Some("the name of an argument must be a bare word: `name => value`".to_owned());
    }
    let entry: &NameEntry = library.get(name.trim_end_matches('_'))?;
    let signatures: Vec<String> =
        entry.layers(method).iter().flatten().map(|overload| overload.signature.to_string()).collect();
    if signatures.is_empty() {
        None
    } else {
        Some(format!("available signatures: {}", signatures.join("; ")))
    }
}

fn list(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// Returns the candidate closest to a misspelled name, within an edit distance of a third of its length.
pub fn closest_name<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let letters = name.chars().count();
    // Any two one-letter words are one edit apart, so a suggestion would be arbitrary.
    let allowed = if letters < 2 { 0 } else { (letters / 3).clamp(1, 3) };
    candidates
        .filter(|candidate| candidate.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_'))
        .map(|candidate| (distance(name, candidate, allowed), candidate))
        .filter(|(distance, candidate)| *distance <= allowed && *candidate != name)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Returns the case-insensitive Damerau–Levenshtein distance (insert, delete, replace, transpose) of two
/// words, or any number above `limit` if it exceeds `limit`.
fn distance(a: &str, b: &str, limit: usize) -> usize {
    let a: Vec<char> = a.chars().flat_map(char::to_lowercase).collect();
    let b: Vec<char> = b.chars().flat_map(char::to_lowercase).collect();
    if a.len().abs_diff(b.len()) > limit || a.len() > 100 {
        return limit + 1;
    }
    let mut previous: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut next = vec![i];
        for j in 1..=b.len() {
            let replace = row[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replace.min(row[j] + 1).min(next[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(previous[j - 2] + 1);
            }
            next.push(best);
        }
        previous = std::mem::replace(&mut row, next);
    }
    row[b.len()]
}
