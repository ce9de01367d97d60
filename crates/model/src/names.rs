//! Names that are checked once, at the edge.

use std::fmt;

/// The label of a graph: `default`, `provision`, anything an engineer likes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GraphType(String);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAName {
    pub name: String,
}

impl GraphType {
    pub const DEFAULT: &'static str = "default";
    const LENGTH_MAX: usize = 255;

    pub fn new(name: &str) -> Result<Self, NotAName> {
        let legal = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if !name.is_empty() && name.len() <= Self::LENGTH_MAX && name.chars().all(legal) {
            Ok(Self(name.to_owned()))
        } else {
            Err(NotAName { name: name.to_owned() })
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for GraphType {
    fn default() -> Self {
        Self(Self::DEFAULT.to_owned())
    }
}

impl fmt::Display for GraphType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for NotAName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: String = self.name.chars().take(60).collect();
        write!(f, "`{}` is no graph type: 1 to 255 letters, digits, `-` or `_`", shown.escape_debug())
    }
}

impl std::error::Error for NotAName {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graph_types_are_letters_digits_dashes_and_underscores() {
        for good in ["default", "net-verification", "a_1", "404", &"x".repeat(255)] {
            assert_eq!(GraphType::new(good).unwrap().as_str(), good);
        }
        for bad in ["", "a b", "a/b", "ä", "a.b", "x\n", &"x".repeat(256)] {
            assert!(GraphType::new(bad).is_err(), "{bad:?}");
        }
    }
}
