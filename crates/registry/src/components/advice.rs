//! Human-readable compatibility information: advice before a choice and explanations of conflicts.

use std::collections::BTreeSet;

use super::component::{Component, Relation};
use super::conflict::{ComponentConflict, InvalidReason};
use super::name::{ComponentName, ComponentPattern};
use super::registry::Registry;
use super::requires::{Choice, Predicate, Requirement};
use crate::labels::words;

/// Compatibility of a component with the current choices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Advice {
    /// Cannot be chosen, with the reasons.
    Incompatible(Vec<String>),
    /// Declared compatible with all selected components.
    Compatible,
    /// No known conflict. Neither of the two components declares compatibility with these chosen components.
    Available(Vec<ComponentName>),
}

impl Registry {
    /// Returns advice about a component, given the choices in its wizard pane and earlier panes. Choices in
    /// later panes are ignored, because the user can still change them. Panes are in the order of the types.
    pub fn advice(&self, name: &ComponentName, selection: &[ComponentName]) -> Option<Advice> {
        let component = self.get(name)?;
        let is_earlier = |other: &&ComponentName| *other != name && other.kind() <= name.kind();
        let others: Vec<&Component> =
            selection.iter().filter(is_earlier).filter_map(|other| self.get(other)).collect();
        let mut reasons: Vec<String> = others
            .iter()
            .filter(|other| Self::conflict(component, other))
            .map(|other| describe_incompatible(component, other))
            .collect();
        reasons.extend(self.unsatisfiable_requirements(component, &others));
        if !reasons.is_empty() {
            return Some(Advice::Incompatible(reasons));
        }
        let is_declared = |other: &&&Component| {
            declares_compatible(component, other) || declares_compatible(other, component)
        };
        let unknown: Vec<ComponentName> =
            others.iter().filter(|other| !is_declared(other)).map(|other| other.name.clone()).collect();
        let is_compatible = unknown.is_empty() && !others.is_empty();
        Some(if is_compatible { Advice::Compatible } else { Advice::Available(unknown) })
    }

    /// Returns the failing requirements that choices in later panes cannot satisfy.
    fn unsatisfiable_requirements(&self, component: &Component, others: &[&Component]) -> Vec<String> {
        let selected: BTreeSet<&ComponentName> = others.iter().map(|other| &other.name).collect();
        let available: BTreeSet<&ComponentName> = self.components().iter().map(|other| &other.name).collect();
        let choice = Choice { selected: &selected, available: &available };
        let own_type = component.name.kind();
        let is_open = |requirement: &Requirement| {
            requirement
                .items
                .iter()
                .any(|item| item.pattern.as_ref().is_some_and(|pattern| pattern.kind() > own_type))
        };
        let failing =
            component.requires.iter().filter(|requirement| !requirement.holds(&component.name, choice));
        failing
            .filter(|requirement| !is_open(requirement))
            .map(|requirement| self.describe_requirement(&component.label, requirement))
            .collect()
    }

    /// Returns the plugins that provide a selected component and are therefore enabled with the selection.
    pub fn plugins_for(&self, selection: &[ComponentName]) -> BTreeSet<&str> {
        let components = selection.iter().filter_map(|name| self.get(name));
        components
            .filter(|component| component.provider.is_plugin())
            .map(|component| component.provider.as_str())
            .collect()
    }

    /// Describes a finding with the labels and messages of its components.
    pub fn explain(&self, finding: &ComponentConflict) -> String {
        let label = |name: &ComponentName| self.label_of(name);
        match finding {
            ComponentConflict::Invalid { component, reason } => {
                format!("`{component}` {}", describe_invalid(*reason))
            }
            ComponentConflict::Duplicate { component, providers } => {
                format!("`{component}` is provided more than once, by {}", providers.join(", "))
            }
            ComponentConflict::Unknown { component } => {
                format!("no release or plugin provides `{component}`")
            }
            ComponentConflict::Incompatible { components: [one, other] } => {
                match (self.get(one), self.get(other)) {
                    (Some(one), Some(other)) => describe_incompatible(one, other),
                    _ => format!("{} is not compatible with {}", label(one), label(other)),
                }
            }
            ComponentConflict::Requires { component, predicate, items } => {
                let requirement = self.get(component).and_then(|component| {
                    component.requires.iter().find(|requirement| {
                        requirement.predicate == *predicate && requirement.item_texts() == *items
                    })
                });
                let words = self.describe_items(&label(component), *predicate, items);
                match requirement.and_then(|requirement| self.message_of(requirement)) {
                    Some(message) => format!("{words}: {message}"),
                    None => words,
                }
            }
            ComponentConflict::MissingType { kind } => {
                format!("a component of type `{kind}` must be selected")
            }
        }
    }

    /// Returns the label of a component; for a component that is not provided, its name or the words of it.
    pub fn label_of(&self, name: &ComponentName) -> String {
        let absent = || {
            if self.is_readable {
                format!("{} (not installed)", words(&name.path().join(" ")))
            } else {
                name.to_string()
            }
        };
        self.get(name).map_or_else(absent, |component| component.label.clone())
    }

    /// Returns the message of a requirement, or a generated description.
    pub fn describe_requirement(&self, label: &str, requirement: &Requirement) -> String {
        let words = || self.describe_items(label, requirement.predicate, &requirement.item_texts());
        self.message_of(requirement).cloned().unwrap_or_else(words)
    }

    /// Returns the declared message: `message_invalid` if no available component matches an item and messages are for
    /// users.
    fn message_of<'r>(&self, requirement: &'r Requirement) -> Option<&'r String> {
        let is_satisfiable = self
            .components()
            .iter()
            .any(|component| requirement.items.iter().any(|item| item.matches(&component.name)));
        let invalid =
            non_blank(requirement.message_invalid.as_ref()).filter(|_| self.is_readable && !is_satisfiable);
        invalid.or_else(|| non_blank(requirement.message.as_ref()))
    }

    fn describe_items(&self, label: &str, predicate: Predicate, items: &[String]) -> String {
        let words = match predicate {
            Predicate::AnyOf => "any of",
            Predicate::AllOf => "all of",
            Predicate::OneOf => "exactly one of",
            Predicate::NoneOf => "none of",
        };
        let mut labels: Vec<String> = Vec::new();
        for item in items.iter().flat_map(|item| self.item_labels(item)) {
            if !labels.contains(&item) {
                labels.push(item);
            }
        }
        format!("{label} requires {words}: {}", labels.join(", "))
    }

    /// Returns the labels of the components that an item matches.
    fn item_labels(&self, item: &str) -> Vec<String> {
        if !self.is_readable {
            return vec![item.to_owned()];
        }
        match ComponentPattern::parse(item) {
            Some(ComponentPattern::Exact(name)) => vec![self.label_of(&name)],
            Some(pattern @ ComponentPattern::Below { .. }) => {
                let absent = || match &pattern {
                    ComponentPattern::Below { prefix, .. } if !prefix.is_empty() => words(&prefix.join(" ")),
                    _ => format!("any {}", pattern.kind().pane_label().to_lowercase()),
                };
                let matching = self.components().iter().filter(|component| pattern.matches(&component.name));
                let labels: Vec<String> = matching.map(|component| component.label.clone()).collect();
                if labels.is_empty() { vec![format!("{} (not installed)", absent())] } else { labels }
            }
            None => vec![format!("`{item}`")],
        }
    }
}

fn declares_compatible(one: &Component, other: &Component) -> bool {
    one.compatible.iter().any(|relation| relation.pattern.matches(&other.name))
}

/// Describes an incompatibility with both labels and the message of either component.
fn describe_incompatible(one: &Component, other: &Component) -> String {
    let message = |one: &Component, other: &Component| {
        let relation: &Relation = one.incompatibility_with(&other.name)?;
        non_blank(relation.message.as_ref()).cloned()
    };
    let words = format!("{} is not compatible with {}", one.label, other.label);
    match message(one, other).or_else(|| message(other, one)) {
        Some(message) => format!("{words}: {message}"),
        None => words,
    }
}

const fn describe_invalid(reason: InvalidReason) -> &'static str {
    match reason {
        InvalidReason::BadName => "is not a valid component name",
        InvalidReason::BadPattern => "contains an invalid component pattern",
        InvalidReason::BadToken => "contains an invalid entry in a `compatible_…` list",
        InvalidReason::SpecificNameRequired => {
            "is a subtype; a plugin that provides several components must name each of them"
        }
        InvalidReason::MixedRequires => "mixes names and predicates in `requires`",
        InvalidReason::UnknownPredicate => "uses an unknown predicate in `requires`",
    }
}

/// Treats a blank message as absent.
fn non_blank(message: Option<&String>) -> Option<&String> {
    message.filter(|message| !message.trim().is_empty())
}
