//! Request and response types for the compatibility of components.

use serde::{Deserialize, Serialize};
use stoker_manifest::reader::{list_of, string_with_length};
use stoker_model::Json;
use utoipa::ToSchema;

use crate::request::request;

/// Result of a compatibility check, with advice on every available component.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = SelectionCheck)]
pub struct SelectionView {
    /// Whether the components can be selected together.
    pub compatible: bool,
    /// Conflicts, each with its `kind` (`invalid`, `duplicate`, `unknown`, `incompatible`, `requires` or
    /// `missing_type`), the affected components and a `message`.
    #[schema(value_type = Vec<Object>)]
    pub conflicts: Vec<Json>,
    /// Every available component, compared with the selected components of its own type and of the types
    /// before it.
    pub components: Vec<AdviceView>,
}

/// Compatibility of one component with the selection.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = ComponentAdvice)]
pub struct AdviceView {
    #[schema(example = "network:core:contrail")]
    pub name: String,
    pub label: String,
    /// `release`, or the name of the plugin that provides the component.
    pub provider: String,
    /// Whether the component is selected.
    pub chosen: bool,
    /// `incompatible`: cannot be selected; `compatible`: declared compatible with all selected components;
    /// `available`: no known conflict.
    #[schema(example = "incompatible")]
    pub state: String,
    /// Reasons why the component cannot be selected.
    pub reasons: Vec<String>,
    /// Selected components for which neither of the two components declares compatibility.
    pub unknown: Vec<String>,
}

/// Compatibility matrix. A cell is `X` if all pairs conflict, `~` if some pairs conflict, empty if no pair
/// conflicts, and `·` if there is no pair.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Compatibility)]
pub struct CompatibilityView {
    /// Component subtypes: rows and columns of `cells`.
    #[schema(example = json!(["hypervisor:core", "network:core"]))]
    pub subtypes: Vec<String>,
    #[schema(example = json!([["", "X"], ["X", "·"]]))]
    pub cells: Vec<Vec<String>>,
    /// Components: rows and columns of `component_cells`.
    pub components: Vec<ComponentView>,
    pub component_cells: Vec<Vec<String>>,
}

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = ComponentName)]
pub struct ComponentView {
    #[schema(example = "network:core:contrail")]
    pub name: String,
    pub label: String,
    /// `release`, or the name of the plugin that provides the component.
    pub provider: String,
}

/// Component with its conflicts and requirements in both directions.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Component)]
pub struct ListedComponent {
    #[schema(example = "network:core:contrail")]
    pub name: String,
    pub label: String,
    /// Human-readable description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub description: Option<String>,
    /// Sort key of the wizard; components with a small weight come first.
    pub weight: i64,
    /// Whether the wizard selects the component.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub default: bool,
    /// Components that it works with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub compatible: Vec<RelatedComponent>,
    /// Components that it excludes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub incompatible: Vec<RelatedComponent>,
    /// Requirements: `{name}`, or predicates such as `{one_of: {items}}`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, value_type = Vec<Object>)]
    pub requires: Vec<Json>,
}

/// Relation to another component.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct RelatedComponent {
    /// Name of the component, or a pattern such as `storage:block:*`.
    #[schema(example = "hypervisor:vmware")]
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub message: Option<String>,
}

request! {
    /// Selection of components to check.
    pub struct SelectionBody {
        /// Names of the selected components.
        #[schema(example = json!(["hypervisor:vmware", "network:core:contrail"]))]
        components: Vec<String> = required(list_of(string_with_length(1..=255))),
        /// Restricts plugins to those that support this mode (default: all plugins).
        #[schema(example = "ha_compact")]
        mode: Option<String> = nullable(string_with_length(1..=255)),
    }
}
