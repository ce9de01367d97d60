//! Request and response types of the cluster creation wizard.

use serde::{Deserialize, Serialize};
use stoker_manifest::reader::{json_map, string_with_length};
use stoker_model::{Json, JsonMap};
use utoipa::ToSchema;

use crate::request::request;

/// Wizard: its panes by name.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(transparent)]
#[schema(as = Wizard, value_type = std::collections::HashMap<String, PaneView>)]
pub struct WizardView(pub JsonMap);

/// Pane of the wizard: its controls by name, and `metadata`. Plugins may add fields.
#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema)]
#[schema(as = WizardPane)]
pub struct PaneView {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub metadata: Option<PaneMetadata>,
    #[serde(flatten)]
    #[schema(value_type = std::collections::HashMap<String, serde_json::Value>)]
    pub controls: JsonMap,
}

/// Metadata of a pane.
#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema)]
#[schema(as = WizardPaneMetadata)]
pub struct PaneMetadata {
    /// Display name of the pane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// `true` if a choice in the pane is required. Wizards are stored without validation of this field.
    #[serde(default, skip_serializing_if = "Json::is_null")]
    #[schema(required = false)]
    pub required: Json,
}

/// Definition of a control.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ControlDefinition {
    pub label: Option<String>,
    pub description: Option<String>,
    /// Type of the control, such as `radio`, `checkbox`, `text` or `password`.
    pub r#type: Option<String>,
    pub values: Vec<ChoiceDefinition>,
}

/// Definition of an option of a control.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ChoiceDefinition {
    /// Value of the option.
    pub data: Json,
    pub label: Option<String>,
    pub description: Option<String>,
}

impl WizardView {
    /// Returns a pane; without fields if it is absent or another version of the server defines it differently.
    pub fn pane(&self, name: &str) -> PaneView {
        self.0.get(name).and_then(|pane| PaneView::deserialize(pane).ok()).unwrap_or_default()
    }
}

impl PaneView {
    /// Returns the definition of a control; without fields if it is absent or invalid.
    pub fn control(&self, name: &str) -> ControlDefinition {
        let definition = self.controls.get(name);
        definition.and_then(|definition| ControlDefinition::deserialize(definition).ok()).unwrap_or_default()
    }
}

/// Evaluation of the answers to the wizard.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = WizardEvaluation)]
pub struct EvaluationView {
    /// Controls in display order.
    pub controls: Vec<ControlView>,
    /// Effective value of every control.
    #[schema(value_type = Object)]
    pub answers: JsonMap,
    /// Problems in the submitted answers. A cluster cannot be created from answers with problems.
    pub problems: Vec<ProblemView>,
    /// Components that the effective values select.
    pub components: Vec<String>,
    /// Plugins that are enabled by these components.
    pub plugins: Vec<String>,
    /// Whether these components are compatible.
    pub compatible: bool,
    /// Conflicts between the components.
    pub conflicts: Vec<ConflictView>,
}

/// Conflict between components.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = WizardConflict)]
pub struct ConflictView {
    /// `kind`, and the components that it concerns.
    #[serde(flatten)]
    #[schema(value_type = std::collections::HashMap<String, serde_json::Value>)]
    pub details: JsonMap,
    /// Human-readable message.
    #[serde(default)]
    pub message: String,
}

impl From<Json> for ConflictView {
    fn from(conflict: Json) -> Self {
        let mut details = match conflict {
            Json::Object(details) => details,
            _ => JsonMap::new(),
        };
        let message = match details.shift_remove("message") {
            Some(Json::String(message)) => message,
            _ => String::new(),
        };
        Self { details, message }
    }
}

/// State of a control.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = WizardControl)]
pub struct ControlView {
    /// Name of the pane.
    #[schema(example = "Network")]
    pub pane: String,
    /// Name of the control.
    #[schema(example = "manager")]
    pub control: String,
    /// Effective value: the answer, the default, or the first permitted option if neither is permitted.
    #[schema(value_type = serde_json::Value)]
    pub value: Json,
    /// Whether the answer was replaced because a restriction forbids it.
    pub dropped: bool,
    /// Whether a restriction hides the control.
    pub hidden: bool,
    /// Whether a restriction disables the control.
    pub disabled: bool,
    /// Messages of the restrictions that apply.
    pub messages: Vec<String>,
    /// Options of a choice, in display order.
    pub options: Vec<OptionView>,
}

/// State of an option of a choice.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = WizardOption)]
pub struct OptionView {
    /// Value of the option.
    #[schema(value_type = serde_json::Value)]
    pub data: Json,
    /// Whether a restriction hides the option.
    pub hidden: bool,
    /// Whether a restriction disables the option.
    pub disabled: bool,
    /// Messages of the restrictions that apply.
    pub messages: Vec<String>,
}

/// Problem in an answer.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = WizardProblem)]
pub struct ProblemView {
    /// Path of the control: `Pane.control`.
    #[schema(example = "Network.manager")]
    pub path: String,
    /// Kind of problem: `unknown`, `value`, `restricted` or `condition`.
    #[schema(example = "restricted")]
    pub kind: String,
    /// Human-readable message.
    pub message: String,
}

request! {
    /// Current answers.
    pub struct AnswersBody {
        /// Answers: `{Pane: {control: value}}`. Omitted controls have their default.
        #[schema(nullable = false, value_type = Option<Object>, example = json!({"Compute": {"vcenter": true}}))]
        answers: Option<JsonMap> = optional(json_map),
        /// Mode of the cluster, unless an answer sets it.
        #[schema(example = "ha_compact")]
        mode: Option<String> = nullable(string_with_length(1..=255)),
    }
}
