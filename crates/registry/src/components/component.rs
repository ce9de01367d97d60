//! One component and what it says about others.

use std::collections::BTreeMap;

use stoker_model::Json;

use super::name::{ComponentName, ComponentPattern, ComponentType, Token};
use super::requires::Requirement;

/// Who brings a component.
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
    pub label: String,
    pub description: Option<String>,
    /// Where it stands among others of its kind.
    pub weight: i64,
    /// Whether it is chosen unless somebody chooses otherwise.
    pub is_default: bool,
    /// What choosing it sets, as it is written.
    pub bind: Vec<Json>,
    /// Known to work; advice only.
    pub compatible: Vec<Relation>,
    pub incompatible: Vec<Relation>,
    /// Of each type, what is accepted; everything else of that type is refused. `None` if it accepts everything.
    pub(super) accepts: Option<BTreeMap<ComponentType, Vec<Token>>>,
    pub requires: Vec<Requirement>,
}

/// What a component says about those that a pattern matches.
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

    /// Whether it says no to another component. It never does to itself.
    pub fn refuses(&self, other: &ComponentName) -> bool {
        *other != self.name && (self.does_not_accept(other) || self.names_incompatible(other).is_some())
    }

    fn does_not_accept(&self, other: &ComponentName) -> bool {
        let Some(accepts) = &self.accepts else { return false };
        let tokens = accepts.get(&other.kind());
        match tokens {
            // The design has no word for this type, so silence is consent.
            None => other.kind() != ComponentType::AdditionalService,
            Some(tokens) => !tokens.iter().any(|token| token.covers(other)),
        }
    }

    /// The first relation that names the other as incompatible.
    pub(super) fn names_incompatible(&self, other: &ComponentName) -> Option<&Relation> {
        self.incompatible.iter().find(|relation| relation.pattern.matches(other))
    }

    /// Adds what the same provider says about it in the other form.
    pub(super) fn absorb(&mut self, other: Self) {
        if self.label == self.name.to_string() {
            self.label = other.label;
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
