//! A component and its declared relations.

use std::collections::BTreeMap;

use stoker_model::Json;

use super::name::{ComponentName, ComponentPattern, ComponentType, NameToken};
use super::requires::Requirement;
use crate::labels::readable;

/// Source of a component.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Provider {
    Release,
    Plugin(String),
}

impl Provider {
    pub fn is_plugin(&self) -> bool {
        matches!(self, Self::Plugin(_))
    }

    pub fn as_str(&self) -> &str {
        match self {
            Self::Release => "release",
            Self::Plugin(name) => name,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Component {
    pub name: ComponentName,
    pub provider: Provider,
    /// Declared label; the name if there is none.
    pub label: String,
    pub(super) has_own_label: bool,
    pub description: Option<String>,
    /// Sort position among components of its type.
    pub weight: i64,
    /// Whether the component is preselected in the wizard.
    pub is_default: bool,
    /// Bindings in their serialized form.
    pub bind: Vec<Json>,
    /// Declared compatible components; informational only.
    pub compatible: Vec<Relation>,
    pub incompatible: Vec<Relation>,
    /// Accepted components by type; all others are refused. `None` means that all components are accepted.
    pub(super) accepts: Option<BTreeMap<ComponentType, Vec<NameToken>>>,
    pub requires: Vec<Requirement>,
}

/// Relation to all components that match a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    pub pattern: ComponentPattern,
    pub message: Option<String>,
}

pub(super) const WEIGHT_DEFAULT: i64 = 100;

impl Component {
    pub(super) fn new(name: ComponentName, provider: Provider) -> Self {
        Self {
            label: name.to_string(),
            has_own_label: false,
            name,
            provider,
            description: None,
            weight: WEIGHT_DEFAULT,
            is_default: false,
            bind: Vec::new(),
            compatible: Vec::new(),
            incompatible: Vec::new(),
            accepts: None,
            requires: Vec::new(),
        }
    }

    /// Reports whether it declares a conflict with another component. Never true for itself.
    pub fn refuses(&self, other: &ComponentName) -> bool {
        *other != self.name && (self.excludes(other) || self.incompatibility_with(other).is_some())
    }

    fn excludes(&self, other: &ComponentName) -> bool {
        let Some(accepts) = &self.accepts else { return false };
        let tokens = accepts.get(&other.kind());
        match tokens {
            // The original design has no list for this type, so a missing list means acceptance.
            None => other.kind() != ComponentType::AdditionalService,
            Some(tokens) => !tokens.iter().any(|token| token.covers(other)),
        }
    }

    /// Returns the first matching incompatibility.
    pub(super) fn incompatibility_with(&self, other: &ComponentName) -> Option<&Relation> {
        self.incompatible.iter().find(|relation| relation.pattern.matches(other))
    }

    /// Replaces translation keys in the description and in messages.
    pub(super) fn translate(&mut self) {
        let relations = self.compatible.iter_mut().chain(&mut self.incompatible);
        let of_relations = relations.map(|relation| &mut relation.message);
        let of_requirements =
            self.requires.iter_mut().flat_map(|it| [&mut it.message, &mut it.message_invalid]);
        let texts = std::iter::once(&mut self.description).chain(of_relations).chain(of_requirements);
        for text in texts.flatten() {
            *text = readable(text).into_owned();
        }
    }

    /// Merges another declaration of the same component by the same provider.
    pub(super) fn absorb(&mut self, other: Self) {
        if !self.has_own_label {
            self.label = other.label;
            self.has_own_label = other.has_own_label;
        }
        self.description = self.description.take().or(other.description);
        if self.weight == WEIGHT_DEFAULT {
            self.weight = other.weight;
        }
        self.is_default |= other.is_default;
        self.bind.extend(other.bind);
        self.compatible.extend(other.compatible);
        self.incompatible.extend(other.incompatible);
        self.requires.extend(other.requires);
        self.accepts = self.accepts.take().or(other.accepts);
    }
}
