//! What to tell people who choose: before they choose, and after they chose wrongly.

use std::collections::BTreeSet;

use super::component::{Component, Relation};
use super::finding::{Finding, Invalid};
use super::name::ComponentName;
use super::registry::Registry;
use super::requires::{Chosen, Predicate, Requirement};

/// How a component stands to what has been chosen so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Advice {
    /// It cannot be chosen now, and why.
    Incompatible(Vec<String>),
    /// Known to work with everything chosen.
    Compatible,
    /// Nothing speaks against it; these say nothing about it, nor it about them.
    Available(Vec<ComponentName>),
}

impl Registry {
    /// Advice about a component, given the choices of its own pane and of earlier ones; later ones do not count yet.
    /// Panes are in the order of the types.
    pub fn advice(&self, name: &ComponentName, chosen: &[ComponentName]) -> Option<Advice> {
        let component = self.get(name)?;
        let is_earlier = |other: &&ComponentName| *other != name && other.kind() <= name.kind();
        let others: Vec<&Component> =
            chosen.iter().filter(is_earlier).filter_map(|other| self.get(other)).collect();
        let mut reasons: Vec<String> = others
            .iter()
            .filter(|other| Self::conflict(component, other))
            .map(|other| incompatible_words(component, other))
            .collect();
        reasons.extend(self.hopeless_requirements(component, &others));
        if !reasons.is_empty() {
            return Some(Advice::Incompatible(reasons));
        }
        let is_known = |other: &&&Component| says(component, other) || says(other, component);
        let unknown: Vec<ComponentName> =
            others.iter().filter(|other| !is_known(other)).map(|other| other.name.clone()).collect();
        let is_compatible = unknown.is_empty() && !others.is_empty();
        Some(if is_compatible { Advice::Compatible } else { Advice::Available(unknown) })
    }

    /// Requirements that fail and that no later pane can mend.
    fn hopeless_requirements(&self, component: &Component, others: &[&Component]) -> Vec<String> {
        let selected: BTreeSet<&ComponentName> = others.iter().map(|other| &other.name).collect();
        let available: BTreeSet<&ComponentName> = self.components().iter().map(|other| &other.name).collect();
        let chosen = Chosen { selected: &selected, available: &available };
        let own = component.name.kind();
        let is_open = |requirement: &Requirement| {
            requirement
                .items
                .iter()
                .any(|item| item.pattern.as_ref().is_some_and(|pattern| pattern.kind() > own))
        };
        let failing = component.requires.iter().filter(|found| !found.holds(&component.name, chosen));
        failing.filter(|found| !is_open(found)).map(|found| found.words(&component.label)).collect()
    }

    /// Plugins that provide something of a selection, and so are enabled with it.
    pub fn plugins_of(&self, selection: &[ComponentName]) -> BTreeSet<&str> {
        let chosen = selection.iter().filter_map(|name| self.get(name));
        chosen
            .filter(|component| component.provider.is_plugin())
            .map(|component| component.provider.as_str())
            .collect()
    }

    /// A finding in words, with the labels and messages of those it is about.
    pub fn explain(&self, finding: &Finding) -> String {
        let label = |name: &ComponentName| {
            self.get(name).map_or_else(|| name.to_string(), |found| found.label.clone())
        };
        match finding {
            Finding::Invalid { component, reason } => format!("`{component}` {}", invalid_words(*reason)),
            Finding::Duplicate { component, providers } => {
                format!("`{component}` is provided more than once, by {}", providers.join(", "))
            }
            Finding::Unknown { component } => format!("nobody provides `{component}`"),
            Finding::Incompatible { components: [one, other] } => match (self.get(one), self.get(other)) {
                (Some(one), Some(other)) => incompatible_words(one, other),
                _ => format!("{} is not compatible with {}", label(one), label(other)),
            },
            Finding::Requires { component, predicate, items } => {
                let own = self.get(component).and_then(|found| {
                    found
                        .requires
                        .iter()
                        .find(|known| known.predicate == *predicate && known.item_texts() == *items)
                });
                let words = requirement_words(&label(component), *predicate, items);
                match own.and_then(|found| said(found.message.as_ref())) {
                    Some(message) => format!("{words}: {message}"),
                    None => words,
                }
            }
            Finding::MissingType { kind } => format!("a component of type `{kind}` has to be chosen"),
        }
    }
}

fn says(one: &Component, other: &Component) -> bool {
    one.compatible.iter().any(|relation| relation.pattern.matches(&other.name))
}

/// Both labels, and what either has to say about it.
fn incompatible_words(one: &Component, other: &Component) -> String {
    let message = |one: &Component, other: &Component| {
        let relation: &Relation = one.names_incompatible(&other.name)?;
        said(relation.message.as_ref()).cloned()
    };
    let words = format!("{} is not compatible with {}", one.label, other.label);
    match message(one, other).or_else(|| message(other, one)) {
        Some(message) => format!("{words}: {message}"),
        None => words,
    }
}

const fn invalid_words(reason: Invalid) -> &'static str {
    match reason {
        Invalid::BadName => "is no name of a component",
        Invalid::BadPattern => "names components in a way that matches none",
        Invalid::BadToken => "lists what it works with in a way that covers nothing",
        Invalid::SpecificNameRequired => "is a subtype; a plugin that provides several components names each",
        Invalid::MixedRequires => "mixes names and predicates in what it requires",
        Invalid::UnknownPredicate => "requires something by a predicate that does not exist",
    }
}

impl Requirement {
    /// Its own message, or what it asks for.
    pub fn words(&self, label: &str) -> String {
        let words = || requirement_words(label, self.predicate, &self.item_texts());
        said(self.message.as_ref()).cloned().unwrap_or_else(words)
    }
}

/// A message with nothing in it, as some authors write them, is none.
fn said(message: Option<&String>) -> Option<&String> {
    message.filter(|message| !message.trim().is_empty())
}

fn requirement_words(label: &str, predicate: Predicate, items: &[String]) -> String {
    let words = match predicate {
        Predicate::AnyOf => "any of",
        Predicate::AllOf => "all of",
        Predicate::OneOf => "exactly one of",
        Predicate::NoneOf => "none of",
    };
    format!("{label} requires {words}: {}", items.join(", "))
}
