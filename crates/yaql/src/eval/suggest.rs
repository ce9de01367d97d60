//! What the author may have meant.

use std::sync::Arc;

use super::resolve::Failure;
use crate::library::{Library, NameEntry};
use crate::value::{Map, Value};

/// Help for an unknown function: a method of that name, or a similar name.
pub fn function(library: &Library, name: &str, defined: &[Arc<str>]) -> Option<String> {
    if library.get(name).is_some_and(|entry| !entry.methods.is_empty()) {
        return Some(format!("`{name}` is a method: write `value.{name}(…)`"));
    }
    if matches!(name, "not" | "and" | "or" | "in" | "mod") {
        return Some(format!("write a space after the operator: `{name} (…)`"));
    }
    let known = library.names().filter(|(_, entry)| !entry.functions.is_empty()).map(|(name, _)| name);
    closest(name, known.chain(defined.iter().map(|name| &**name)))
        .map(|best| format!("did you mean `{best}`?"))
}

/// Help for an unknown method.
pub fn method(library: &Library, name: &str) -> Option<String> {
    if library.get(name).is_some_and(|entry| !entry.functions.is_empty()) {
        return Some(format!("`{name}` is a function: write `{name}(value, …)`"));
    }
    let known = library.names().filter(|(_, entry)| !entry.methods.is_empty()).map(|(name, _)| name);
    closest(name, known).map(|best| format!("did you mean `{best}`?"))
}

/// Help for a key that a map does not have.
pub(super) fn key(map: &Map, key: &str) -> String {
    const SHOWN_MAX: usize = 8;
    let keys: Vec<&str> = map.iter().take(1000).filter_map(|(key, _)| key.as_str()).collect();
    if let Some(best) = closest(key, keys.iter().copied()) {
        return format!("did you mean `{best}`?");
    }
    if keys.is_empty() || keys.len() > SHOWN_MAX {
        return "use `.get(key)` where a key may be missing".to_owned();
    }
    format!("the keys here are {}", list(&keys))
}

/// Help for a property of a value that has none.
pub(super) fn no_property(receiver: &Value, key: &str) -> String {
    match receiver {
        Value::Null => format!("the value before `.{key}` is null; `?.` gives null instead of failing"),
        other => format!("the value before `.{key}` is of type {} and has no keys", other.type_name()),
    }
}

/// Help for arguments that fit no overload: what would fit.
pub(super) fn signatures(library: &Library, name: &str, method: bool, failure: Failure) -> Option<String> {
    if failure == Failure::BadName {
        return Some("the name of an argument is a bare word: `name => value`".to_owned());
    }
    let entry: &NameEntry = library.get(name.trim_end_matches('_'))?;
    let known: Vec<String> =
        entry.layers(method).iter().flatten().map(|overload| overload.signature.to_string()).collect();
    if known.is_empty() { None } else { Some(format!("it can be called as {}", known.join(", or as "))) }
}

fn list(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// The known name nearest to a misspelt one, if it is near at all.
pub fn closest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let letters = name.chars().count();
    // Every word of one letter is one edit away from every other.
    let allowed = if letters < 2 { 0 } else { (letters / 3).clamp(1, 3) };
    known
        .filter(|candidate| candidate.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_'))
        .map(|candidate| (distance(name, candidate, allowed), candidate))
        .filter(|(distance, candidate)| *distance <= allowed && *candidate != name)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Edits (insert, delete, replace, swap neighbours) from one word to another, ignoring case;
/// anything beyond `limit` is just more than `limit`.
fn distance(a: &str, b: &str, limit: usize) -> usize {
    let a: Vec<char> = a.chars().flat_map(char::to_lowercase).collect();
    let b: Vec<char> = b.chars().flat_map(char::to_lowercase).collect();
    if a.len().abs_diff(b.len()) > limit || a.len() > 100 {
        return limit + 1;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut next = vec![i];
        for j in 1..=b.len() {
            let replace = row[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replace.min(row[j] + 1).min(next[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[b.len()]
}
