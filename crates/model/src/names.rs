//! Names that are validated on construction.

use std::fmt;

/// The type of a graph: `default`, `provision`, or a user-defined one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GraphType(String);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidGraphType {
    pub name: String,
}

impl GraphType {
    pub const DEFAULT: &'static str = "default";
    const DELETION: &'static str = "deletion";
    const LENGTH_MAX: usize = 255;

    pub fn new(name: &str) -> Result<Self, InvalidGraphType> {
        let is_legal = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if !name.is_empty() && name.len() <= Self::LENGTH_MAX && name.chars().all(is_legal) {
            Ok(Self(name.to_owned()))
        } else {
            Err(InvalidGraphType { name: name.to_owned() })
        }
    }

    /// The graph that runs on nodes before they leave their cluster.
    pub fn deletion() -> Self {
        Self(Self::DELETION.to_owned())
    }

    pub fn is_deletion(&self) -> bool {
        self.0 == Self::DELETION
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

impl fmt::Display for InvalidGraphType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let excerpt: String = self.name.chars().take(60).collect();
        write!(
            f,
            "`{}` is not a valid graph type: it must have 1 to 255 letters, digits, `-` or `_`",
            excerpt.escape_debug()
        )
    }
}

impl std::error::Error for InvalidGraphType {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graph_types_are_letters_digits_dashes_and_underscores() {
        for valid in ["default", "net-verification", "a_1", "404", &"x".repeat(255)] {
            assert_eq!(GraphType::new(valid).unwrap().as_str(), valid);
        }
        for invalid in ["", "a b", "a/b", "ä", "a.b", "x\n", &"x".repeat(256)] {
            assert!(GraphType::new(invalid).is_err(), "{invalid:?}");
        }
    }
}
