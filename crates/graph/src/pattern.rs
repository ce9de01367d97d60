//! Names that mean several tasks: `/…/` is a regular expression, anything else is itself.

use stoker_yaql::pyregex::{Flags, Regex, ScanState, Work};

/// How tasks, roles and tags are named. A regular expression has the syntax of Python and must match from the
/// beginning of a name, not up to its end: `/neutron/` also means `neutron-x`.
#[derive(Debug)]
pub enum Pattern<'a> {
    Exact(&'a str),
    Regex(Box<Regex>),
}

/// What matching one name may cost; names are short.
const STEPS_MAX: u64 = 10_000;

impl<'a> Pattern<'a> {
    /// Reads a name; the error says why a regular expression is none.
    pub fn new(name: &'a str) -> Result<Self, String> {
        let Some(expression) = expression_of(name) else { return Ok(Self::Exact(name)) };
        match Regex::new(expression, Flags::default()) {
            Ok(regex) => Ok(Self::Regex(Box::new(regex))),
            Err(error) => Err(error.message),
        }
    }

    pub fn matches(&self, name: &str) -> bool {
        match self {
            Self::Exact(exact) => *exact == name,
            Self::Regex(regex) => {
                let mut state = ScanState::default();
                state.work = Work::of(STEPS_MAX);
                // The leftmost match is at the beginning if any match is. One that costs too much is none.
                let found = regex.search_from(name, &mut state);
                found.is_ok_and(|found| found.is_some_and(|found| found.start() == 0))
            }
        }
    }

    /// Whether a name would be taken for a regular expression.
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
    fn names_and_patterns() {
        let check = |pattern: &str, yes: &[&str], no: &[&str]| {
            let pattern = Pattern::new(pattern).unwrap();
            for (names, is_meant) in [(yes, true), (no, false)] {
                for name in names {
                    assert_eq!(pattern.matches(name), is_meant, "{pattern:?} {name}");
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
        assert!(Pattern::new("/(/").is_err());
        assert!(Pattern::is_regex("//") && !Pattern::is_regex("/") && !Pattern::is_regex("a/"));
    }
}
