//! Words from a closed list.

use stoker_diagnostics::{Diagnostics, choices, quoted};
use stoker_yaml::Node;

use super::did_you_mean;
use super::scalars::text;
use crate::codes;

/// Reads one of these words.
pub fn one_of(words: &'static [&'static str]) -> impl Fn(&Node, &mut Diagnostics) -> Option<&'static str> {
    move |node, problems| {
        let value = text(node, problems)?;
        let matched = words.iter().find(|word| **word == value).copied();
        if matched.is_none() {
            let help = did_you_mean(value, words.iter().copied(), problems);
            let message = format!("must be {}, got {}", choices(words), quoted(value));
            problems.error(codes::CHOICE, node.span, message).help = help;
        }
        matched
    }
}

/// Reads one of the names of an enumeration and converts it to its value.
pub fn enum_of<T>(
    words: &'static [&'static str],
    parse: impl Fn(&str) -> Option<T>,
) -> impl Fn(&Node, &mut Diagnostics) -> Option<T> {
    let word = one_of(words);
    move |node, problems| word(node, problems).and_then(&parse)
}
