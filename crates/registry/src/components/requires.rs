//! Requirements of a component on other components.

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
    /// All predicates, in evaluation order.
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
    /// Message if no available component matches an item, so that no selection satisfies the requirement.
    pub message_invalid: Option<String>,
}

/// Pattern, or invalid text that matches no component.
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

/// Selected and available components, against which requirements are evaluated.
#[derive(Clone, Copy)]
pub(super) struct Choice<'a> {
    pub(super) selected: &'a BTreeSet<&'a ComponentName>,
    pub(super) available: &'a BTreeSet<&'a ComponentName>,
}

impl Requirement {
    /// Evaluates the requirement for a component, which never matches itself.
    pub(super) fn holds(&self, own: &ComponentName, choice: Choice<'_>) -> bool {
        let is_match = |name: &ComponentName| name != own && self.items.iter().any(|item| item.matches(name));
        let n_matched = choice.selected.iter().filter(|name| is_match(name)).count();
        match self.predicate {
            Predicate::OneOf => n_matched == 1,
            Predicate::AnyOf => n_matched > 0,
            Predicate::NoneOf => n_matched == 0,
            Predicate::AllOf => self.items.iter().all(|item| all_selected(item, own, choice)),
        }
    }

    /// Texts of the items, sorted and without duplicates.
    pub fn item_texts(&self) -> Vec<String> {
        let texts: BTreeSet<&str> = self.items.iter().map(|item| &*item.text).collect();
        texts.into_iter().map(str::to_owned).collect()
    }
}

/// Reports whether an item is satisfied: an exact name must be selected; for a wildcard, all available
/// matches must be selected.
fn all_selected(item: &Item, own: &ComponentName, choice: Choice<'_>) -> bool {
    match &item.pattern {
        Some(ComponentPattern::Exact(name)) => name == own || choice.selected.contains(name),
        Some(pattern) => {
            let mut matches = choice.available.iter().filter(|name| **name != own && pattern.matches(name));
            matches.all(|name| choice.selected.contains(name))
        }
        // An invalid pattern matches no component: a wildcard is trivially satisfied, a name never is.
        None => item.text.contains('*'),
    }
}
