//! Words of a closed list.

use stoker_yaml::Node;

use super::scalars::text;
use crate::problem::{Problems, choices, codes, quoted};

/// One of these words.
pub fn word(words: &'static [&'static str]) -> impl Fn(&Node, &mut Problems) -> Option<&'static str> {
    move |node, problems| {
        let given = text(node, problems)?;
        let found = words.iter().find(|word| **word == given).copied();
        if found.is_none() {
            let help = problems.did_you_mean(given, words.iter().copied());
            let message = format!("must be {}, this is {}", choices(words), quoted(given));
            problems.error(codes::CHOICE, node.span, message).help(help);
        }
        found
    }
}

/// One of the words of an enumeration, as its value.
pub fn word_of<T>(
    words: &'static [&'static str],
    parse: impl Fn(&str) -> Option<T>,
) -> impl Fn(&Node, &mut Problems) -> Option<T> {
    let word = word(words);
    move |node, problems| word(node, problems).and_then(&parse)
}
