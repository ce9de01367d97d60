//! Conflicts of a selection, and invalid component declarations.

use std::cmp::Ordering;

use stoker_model::{Json, JsonMap};

use super::name::ComponentName;
use super::requires::Predicate;

/// Result of checking a selection.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectionCheck {
    pub conflicts: Vec<ComponentConflict>,
}

impl SelectionCheck {
    pub(super) fn new(mut conflicts: Vec<ComponentConflict>) -> Self {
        conflicts.sort_by(ComponentConflict::compare);
        conflicts.dedup();
        Self { conflicts }
    }

    pub fn is_compatible(&self) -> bool {
        self.conflicts.is_empty()
    }

    /// Renders as `{"compatible": …, "conflicts": […]}`.
    pub fn to_json(&self) -> Json {
        let conflicts: Vec<Json> = self.conflicts.iter().map(ComponentConflict::to_json).collect();
        let mut map = JsonMap::new();
        map.insert("compatible".to_owned(), Json::from(conflicts.is_empty()));
        map.insert("conflicts".to_owned(), Json::from(conflicts));
        Json::Object(map)
    }
}

/// Reason why a component declaration is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum InvalidReason {
    BadName,
    BadPattern,
    BadToken,
    SpecificNameRequired,
    MixedRequires,
    UnknownPredicate,
}

impl InvalidReason {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BadName => "bad_name",
            Self::BadPattern => "bad_pattern",
            Self::BadToken => "bad_token",
            Self::SpecificNameRequired => "specific_name_required",
            Self::MixedRequires => "mixed_requires",
            Self::UnknownPredicate => "unknown_predicate",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ComponentConflict {
    Invalid {
        component: String,
        reason: InvalidReason,
    },
    /// Providers sorted: `release` or plugin names.
    Duplicate {
        component: ComponentName,
        providers: Vec<String>,
    },
    /// The component is selected but not provided.
    Unknown {
        component: String,
    },
    /// Incompatible components, sorted by name.
    Incompatible {
        components: [ComponentName; 2],
    },
    Requires {
        component: ComponentName,
        predicate: Predicate,
        items: Vec<String>,
    },
    /// No component of this type is selected.
    MissingType {
        kind: String,
    },
}

impl ComponentConflict {
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Invalid { .. } => "invalid",
            Self::Duplicate { .. } => "duplicate",
            Self::Unknown { .. } => "unknown",
            Self::Incompatible { .. } => "incompatible",
            Self::Requires { .. } => "requires",
            Self::MissingType { .. } => "missing_type",
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Invalid { .. } => 0,
            Self::Duplicate { .. } => 1,
            Self::Unknown { .. } => 2,
            Self::Incompatible { .. } => 3,
            Self::Requires { .. } => 4,
            Self::MissingType { .. } => 5,
        }
    }

    /// Returns the serialized form with sorted keys.
    pub fn to_json(&self) -> Json {
        let text = |name: &ComponentName| Json::from(name.to_string());
        let mut fields = match self {
            Self::Invalid { component, reason } => {
                vec![("component", Json::from(&**component)), ("reason", Json::from(reason.as_str()))]
            }
            Self::Duplicate { component, providers } => {
                vec![("component", text(component)), ("providers", Json::from(providers.clone()))]
            }
            Self::Unknown { component } => vec![("component", Json::from(&**component))],
            Self::Incompatible { components } => {
                vec![("components", components.iter().map(text).collect())]
            }
            Self::Requires { component, predicate, items } => vec![
                ("component", text(component)),
                ("items", Json::from(items.clone())),
                ("predicate", Json::from(predicate.as_str())),
            ],
            Self::MissingType { kind } => vec![("type", Json::from(&**kind))],
        };
        fields.push(("kind", Json::from(self.kind())));
        fields.sort_by_key(|(key, _)| *key);
        Json::Object(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    /// Orders by kind, then by serialized form.
    fn compare(&self, other: &Self) -> Ordering {
        let text = |finding: &Self| finding.to_json().to_string();
        self.rank().cmp(&other.rank()).then_with(|| text(self).cmp(&text(other)))
    }
}
