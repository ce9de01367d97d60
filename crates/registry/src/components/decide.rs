//! Compatibility check of a selection.

use std::collections::BTreeSet;

use super::component::Component;
use super::conflict::{ComponentConflict, SelectionCheck};
use super::name::{ComponentName, ComponentType};
use super::registry::Registry;
use super::requires::Choice;

/// Selected components and required types.
#[derive(Clone, Copy, Debug, Default)]
pub struct Selection<'a> {
    /// Component names in any accepted spelling and any order.
    pub components: &'a [&'a str],
    /// Types of which at least one component must be selected.
    pub required_types: &'a [&'a str],
}

impl Registry {
    /// Returns all conflicts of a selection. Unknown names are reported and otherwise treated as not
    /// selected.
    pub fn check_selection(&self, selection: Selection<'_>) -> SelectionCheck {
        let mut findings = self.findings().to_vec();
        let mut selected: Vec<&Component> = Vec::new();
        let mut names: BTreeSet<&ComponentName> = BTreeSet::new();
        for text in selection.components {
            let name = ComponentName::parse(text);
            if let Some(component) = name.as_ref().and_then(|name| self.get(name)) {
                selected.extend(names.insert(&component.name).then_some(component));
            } else {
                let component = name.map_or_else(|| (*text).to_owned(), |name| name.to_string());
                findings.push(ComponentConflict::Unknown { component });
            }
        }
        findings.extend(incompatible_pairs(&selected));
        findings.extend(self.unmet_requirements(&selected));
        findings.extend(missing_types(&selected, selection.required_types));
        SelectionCheck::new(findings)
    }

    fn unmet_requirements(&self, components: &[&Component]) -> Vec<ComponentConflict> {
        let selected: BTreeSet<&ComponentName> = components.iter().map(|component| &component.name).collect();
        let available: BTreeSet<&ComponentName> =
            self.components().iter().map(|component| &component.name).collect();
        let choice = Choice { selected: &selected, available: &available };
        let mut findings = Vec::new();
        for component in components {
            let unmet =
                component.requires.iter().filter(|requirement| !requirement.holds(&component.name, choice));
            findings.extend(unmet.map(|requirement| ComponentConflict::Requires {
                component: component.name.clone(),
                predicate: requirement.predicate,
                items: requirement.item_texts(),
            }));
        }
        findings
    }
}

fn incompatible_pairs(components: &[&Component]) -> Vec<ComponentConflict> {
    let mut findings = Vec::new();
    for (idx, one) in components.iter().enumerate() {
        for other in components[idx + 1..].iter().filter(|other| Registry::conflict(one, other)) {
            let mut components = [one.name.clone(), other.name.clone()];
            components.sort_by_key(ToString::to_string);
            findings.push(ComponentConflict::Incompatible { components });
        }
    }
    findings
}

fn missing_types(components: &[&Component], required: &[&str]) -> Vec<ComponentConflict> {
    let mut findings = Vec::new();
    for text in required {
        let kind = ComponentType::parse(text);
        if !components.iter().any(|component| Some(component.name.kind()) == kind) {
            let kind = kind.map_or_else(|| (*text).to_owned(), |kind| kind.as_str().to_owned());
            findings.push(ComponentConflict::MissingType { kind });
        }
    }
    findings
}
