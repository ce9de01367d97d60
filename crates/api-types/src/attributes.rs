//! Request and response types for the settings of clusters.

use serde::{Deserialize, Serialize};
use stoker_manifest::reader::json_map;
use stoker_model::{Json, JsonMap};
use utoipa::ToSchema;

use crate::request::request;

/// Settings by section. Each plugin has its own section, with `metadata.class` set to `plugin`.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = ClusterAttributes)]
pub struct AttributesView {
    #[schema(value_type = Object, example = json!({"common": {"debug": {"type": "checkbox", "value": true}}}))]
    pub editable: JsonMap,
}

/// Section of the settings, as far as commands show it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct SectionView {
    pub metadata: SectionMetadata,
    /// Settings by name; entries without a value are other fields of the section.
    #[serde(flatten)]
    pub entries: JsonMap,
}

/// Metadata of a section.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct SectionMetadata {
    /// `plugin` for the section of a plugin.
    pub class: Option<String>,
    /// Whether the plugin is enabled.
    pub enabled: bool,
}

/// Setting of a section.
#[derive(Clone, Debug, Deserialize)]
pub struct SettingView {
    pub value: Json,
    #[serde(default)]
    pub label: Json,
    /// Type of the input field, such as `text`, `checkbox` or `password`.
    #[serde(default)]
    pub r#type: Option<String>,
}

impl AttributesView {
    /// Returns the sections in their order. Sections that a newer server defines differently have no entries.
    pub fn sections(&self) -> impl Iterator<Item = (&str, SectionView)> {
        self.editable
            .iter()
            .map(|(name, section)| (name.as_str(), SectionView::deserialize(section).unwrap_or_default()))
    }
}

impl SectionView {
    /// Returns the settings in their order.
    pub fn settings(&self) -> impl Iterator<Item = (&str, SettingView)> {
        self.entries
            .iter()
            .filter_map(|(name, entry)| Some((name.as_str(), SettingView::deserialize(entry).ok()?)))
    }
}

/// Section, setting or option that a restriction hides or disables.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = RestrictedSetting)]
pub struct RestrictionView {
    /// `section`, `section.setting` or `section.setting[data]`.
    #[schema(example = "storage.volumes_lvm")]
    pub path: String,
    /// Name of the section.
    pub section: String,
    /// Name of the setting; null if the restriction applies to the whole section.
    pub setting: Option<String>,
    /// `data` of the option; null if the restriction applies to the whole setting.
    #[schema(value_type = serde_json::Value)]
    pub option: Option<Json>,
    pub hidden: bool,
    pub disabled: bool,
    /// Messages of the restrictions, for display.
    pub messages: Vec<String>,
    /// Restrictions that cannot be evaluated and are therefore ignored.
    pub errors: Vec<String>,
    /// Whether the setting is enabled although a restriction disables it.
    pub violated: bool,
}

request! {
    /// Changes, merged recursively into the current settings.
    pub struct AttributesBody {
        #[schema(nullable = false, value_type = Option<Object>, example = json!({"common": {"debug": {"value": true}}}))]
        editable: Option<JsonMap> = optional(json_map),
    }
}
