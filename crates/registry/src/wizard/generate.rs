//! Restrictions generated from the compatibility of components.
//!
//! A choice is disabled only by choices of the same or an earlier pane, so that its condition can be
//! evaluated when its pane is shown. Conflicts with later panes are found by the check when the cluster is
//! created.

use std::collections::BTreeSet;

use stoker_model::{Json, JsonMap};

use super::participant::{Participant, participants};
use crate::components::{ComponentPattern, Predicate, Registry, Requirement};
use crate::labels::readable;
use crate::restrictions::{Restriction, RestrictionAction};

/// Returns the restrictions to add to each choice, in wizard order, by `Pane.control` or
/// `Pane.control[data]`.
pub fn generated_restrictions(wizard: &JsonMap, registry: &Registry) -> Vec<(String, Vec<Restriction>)> {
    let all = participants(wizard, registry);
    let additions = all.iter().map(|target| (target.target(), additions(target, &all, registry)));
    additions.filter(|(_, restrictions)| !restrictions.is_empty()).collect()
}

/// Returns the number of choices that represent components. The number of restrictions is quadratic in it.
pub fn count_component_choices(wizard: &JsonMap, registry: &Registry) -> usize {
    participants(wizard, registry).len()
}

/// Appends the generated restrictions to the existing ones.
pub fn with_restrictions(mut wizard: JsonMap, registry: &Registry) -> JsonMap {
    let original = wizard.clone();
    let all = participants(&original, registry);
    for target in &all {
        let added = additions(target, &all, registry);
        let Some(choice) = choice_mut(&mut wizard, target).filter(|_| !added.is_empty()) else { continue };
        let restrictions = choice.entry("restrictions").or_insert_with(|| Json::Array(Vec::new()));
        if restrictions.is_null() {
            *restrictions = Json::Array(Vec::new());
        }
        if let Json::Array(restrictions) = restrictions {
            restrictions.extend(added.iter().map(Restriction::to_json));
        }
    }
    wizard
}

/// Returns the registry with the labels of the options and checkboxes that select its components, which users see.
pub fn relabeled(wizard: &JsonMap, registry: &Registry) -> Registry {
    let mut result = registry.clone();
    for choice in participants(wizard, registry) {
        let label = choice.body.get("label").and_then(Json::as_str).map(readable);
        if let Some(label) = label.filter(|label| !label.trim().is_empty()) {
            result.set_label(&choice.component.name, &label);
        }
    }
    result
}

fn choice_mut<'w>(wizard: &'w mut JsonMap, target: &Participant<'_>) -> Option<&'w mut JsonMap> {
    let control = wizard.get_mut(target.pane)?.get_mut(target.control)?;
    let Some(data) = target.data else { return control.as_object_mut() };
    let options = control.get_mut("values")?.as_array_mut()?;
    options.iter_mut().find(|option| option.get("data") == Some(data))?.as_object_mut()
}

/// Returns the new restrictions of one choice.
fn additions(target: &Participant<'_>, all: &[Participant<'_>], registry: &Registry) -> Vec<Restriction> {
    let written = target.body.get("restrictions").and_then(Json::as_array).into_iter().flatten();
    let mut conditions: BTreeSet<String> =
        written.filter_map(Restriction::parse).map(|restriction| restriction.condition).collect();
    let requires = target.component.requires.iter();
    let requires = requires.filter_map(|required| requirement(target, required, all, registry));
    let mut added = incompatibilities(target, all);
    added.extend(requires);
    added.retain(|restriction| conditions.insert(restriction.condition.clone()));
    added
}

fn disable_if(condition: String, message: String) -> Restriction {
    Restriction { condition, message: Some(message), action: RestrictionAction::Disable, is_strict: true }
}

fn incompatibilities(target: &Participant<'_>, all: &[Participant<'_>]) -> Vec<Restriction> {
    let is_conflict = |other: &&Participant<'_>| {
        !other.is_in_control_of(target)
            && other.pane_idx <= target.pane_idx
            && Registry::conflict(target.component, other.component)
    };
    let restriction = |other: &Participant<'_>| {
        let message = format!("{} is not compatible with {}", target.component.label, other.component.label);
        disable_if(other.reference(), message)
    };
    all.iter().filter(is_conflict).map(restriction).collect()
}

/// Returns the restriction that enforces a requirement; `None` if it cannot be evaluated yet.
fn requirement(
    target: &Participant<'_>,
    requirement: &Requirement,
    all: &[Participant<'_>],
    registry: &Registry,
) -> Option<Restriction> {
    let own = &target.component.name;
    let is_partner = |other: &&Participant<'_>| {
        let name = &other.component.name;
        !other.is_in_control_of(target)
            && name != own
            && requirement.items.iter().any(|item| item.matches(name))
    };
    let partners: Vec<&Participant<'_>> = all.iter().filter(is_partner).collect();
    if partners.iter().any(|partner| partner.pane_idx > target.pane_idx) {
        return None;
    }
    let condition = match requirement.predicate {
        Predicate::AnyOf => none_chosen(&partners),
        Predicate::OneOf => not_exactly_one(&partners),
        Predicate::NoneOf if partners.is_empty() => return None,
        Predicate::NoneOf => join_references(&partners, " or "),
        Predicate::AllOf if lacks_exact_item(target, requirement, &partners) => "true".to_owned(),
        Predicate::AllOf if partners.is_empty() => return None,
        Predicate::AllOf => format!("not ({})", join_references(&partners, " and ")),
    };
    Some(disable_if(condition, registry.describe_requirement(&target.component.label, requirement)))
}

fn join_references(partners: &[&Participant<'_>], operator: &str) -> String {
    let references: Vec<String> = partners.iter().map(|partner| partner.reference()).collect();
    references.join(operator)
}

fn none_chosen(partners: &[&Participant<'_>]) -> String {
    if partners.is_empty() {
        "true".to_owned()
    } else {
        format!("not ({})", join_references(partners, " or "))
    }
}

/// Returns the condition that is true with no selected partner, or with two partners that can be selected
/// together.
fn not_exactly_one(partners: &[&Participant<'_>]) -> String {
    let mut condition = none_chosen(partners);
    for (idx, one) in partners.iter().enumerate() {
        for other in partners[idx + 1..].iter().filter(|other| !one.is_in_control_of(other)) {
            let pair = format!(" or ({} and {})", one.reference(), other.reference());
            condition.push_str(&pair);
        }
    }
    condition
}

/// Reports whether a required name is not represented in the wizard.
fn lacks_exact_item(
    target: &Participant<'_>,
    requirement: &Requirement,
    partners: &[&Participant<'_>],
) -> bool {
    requirement.items.iter().any(|item| match &item.pattern {
        Some(ComponentPattern::Exact(name)) => {
            *name != target.component.name && !partners.iter().any(|partner| partner.component.name == *name)
        }
        Some(ComponentPattern::Below { .. }) => false,
        None => !item.text.contains('*'),
    })
}
