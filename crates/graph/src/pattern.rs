//! Name patterns: `/…/` is a regular expression, any other text an exact name.

use stoker_yaql::pyregex::{Flags, Regex, ScanState, StepBudget};

/// A reference to tasks, roles or tags. A regular expression has Python syntax and is anchored at the start
/// of the name only: `/neutron/` also matches `neutron-x`.
#[derive(Debug)]
pub enum NamePattern<'a> {
    Exact(&'a str),
    Regex(Box<Regex>),
}

/// An invalid regular expression in a pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct InvalidPattern {
    message: String,
}

/// Maximum number of steps for matching one name, which bounds catastrophic backtracking. Names are short, so
/// real patterns need far fewer.
const STEPS_MAX: u64 = 10_000;

impl<'a> NamePattern<'a> {
    /// Parses a name; fails if the regular expression is invalid.
    pub fn new(name: &'a str) -> Result<Self, InvalidPattern> {
        let Some(expression) = expression_of(name) else { return Ok(Self::Exact(name)) };
        match Regex::new(expression, Flags::default()) {
            Ok(regex) => Ok(Self::Regex(Box::new(regex))),
            Err(error) => Err(InvalidPattern { message: error.message }),
        }
    }

    pub fn matches(&self, name: &str) -> bool {
        match self {
            Self::Exact(exact) => *exact == name,
            Self::Regex(regex) => {
                let mut state = ScanState::default();
                state.work = StepBudget::new(STEPS_MAX);
                // The leftmost match is at the start if any match is. Exceeding the step limit counts as no
                // match.
                let result = regex.search_from(name, &mut state);
                result.is_ok_and(|matched| matched.is_some_and(|matched| matched.start() == 0))
            }
        }
    }

    /// Reports whether a name would be parsed as a regular expression.
    pub fn is_regex(name: &str) -> bool {
        expression_of(name).is_some()
    }
}

fn expression_of(name: &str) -> Option<&str> {
    if name.len() < 2 { None } else { name.strip_prefix('/')?.strip_suffix('/') }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_names() {
        let check = |pattern: &str, yes: &[&str], no: &[&str]| {
            let pattern = NamePattern::new(pattern).unwrap();
            for (names, expected) in [(yes, true), (no, false)] {
                for name in names {
                    assert_eq!(pattern.matches(name), expected, "{pattern:?} {name}");
                }
            }
        };
        check("a", &["a"], &["aa", "", "A"]);
        check("/", &["/"], &["a"]);
        check("/neutron/", &["neutron", "neutron-x"], &["x-neutron", ""]);
        check("/^(primary-)?x$/", &["x", "primary-x"], &["xx", "y"]);
        check("/b|a/", &["a", "b", "ab"], &["cab"]);
        check("/.*/", &["", "anything"], &[]);
        check("/(?i)A/", &["a"], &["b"]);
        check("/a(?!b)/", &["ac", "a"], &["ab"]);
        assert!(NamePattern::new("/(/").is_err());
        assert!(NamePattern::is_regex("//") && !NamePattern::is_regex("/") && !NamePattern::is_regex("a/"));
    }
}
