//! What a component needs of the others.

use std::collections::BTreeSet;

use super::name::{ComponentName, ComponentPattern};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Predicate {
    OneOf,
    AnyOf,
    AllOf,
    NoneOf,
}

impl Predicate {
    /// In the order in which they are looked at.
    pub const ALL: &'static [Self] = &[Self::OneOf, Self::AnyOf, Self::AllOf, Self::NoneOf];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OneOf => "one_of",
            Self::AnyOf => "any_of",
            Self::AllOf => "all_of",
            Self::NoneOf => "none_of",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|predicate| predicate.as_str() == text)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    pub predicate: Predicate,
    pub items: Vec<Item>,
    pub message: Option<String>,
}

/// A pattern, or a text that is none and matches nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub text: String,
    pub pattern: Option<ComponentPattern>,
}

impl Item {
    pub(super) fn new(text: &str) -> Self {
        let pattern = ComponentPattern::parse(text);
        let text = pattern.as_ref().map_or_else(|| text.to_owned(), ToString::to_string);
        Self { text, pattern }
    }

    pub fn matches(&self, name: &ComponentName) -> bool {
        self.pattern.as_ref().is_some_and(|pattern| pattern.matches(name))
    }
}

/// What a requirement is held against.
#[derive(Clone, Copy)]
pub(super) struct Chosen<'a> {
    pub(super) selected: &'a BTreeSet<&'a ComponentName>,
    pub(super) available: &'a BTreeSet<&'a ComponentName>,
}

impl Requirement {
    /// Whether it holds for a component, which itself never counts.
    pub(super) fn holds(&self, own: &ComponentName, chosen: Chosen<'_>) -> bool {
        let is_meant = |name: &ComponentName| name != own && self.items.iter().any(|item| item.matches(name));
        let n_matched = chosen.selected.iter().filter(|name| is_meant(name)).count();
        match self.predicate {
            Predicate::OneOf => n_matched == 1,
            Predicate::AnyOf => n_matched > 0,
            Predicate::NoneOf => n_matched == 0,
            Predicate::AllOf => self.items.iter().all(|item| all_chosen(item, own, chosen)),
        }
    }

    /// As they are reported.
    pub fn item_texts(&self) -> Vec<String> {
        let texts: BTreeSet<&str> = self.items.iter().map(|item| &*item.text).collect();
        texts.into_iter().map(str::to_owned).collect()
    }
}

/// An exact name has to be chosen; of a wildcard, everything that could be.
fn all_chosen(item: &Item, own: &ComponentName, chosen: Chosen<'_>) -> bool {
    match &item.pattern {
        Some(ComponentPattern::Exact(name)) => name == own || chosen.selected.contains(name),
        Some(pattern) => {
            let mut meant = chosen.available.iter().filter(|name| **name != own && pattern.matches(name));
            meant.all(|name| chosen.selected.contains(name))
        }
        // What is no pattern matches nothing: no wildcard to fill, or a name that nobody has.
        None => item.text.contains('*'),
    }
}
