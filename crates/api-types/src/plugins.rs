//! Request and response types for plugins.

use serde::{Deserialize, Serialize};
use stoker_manifest::reader::{identifier, list_of};
use stoker_model::Json;
use utoipa::ToSchema;

use crate::request::request;

/// Plugin. Additional fields of the plugin are returned as top-level fields too.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Plugin)]
pub struct PluginView {
    /// ID of the plugin.
    #[schema(example = 4)]
    pub id: i64,
    /// Name of the plugin.
    #[schema(example = "gridnet")]
    pub name: String,
    /// Display name.
    #[schema(example = "GridNet")]
    pub title: String,
    /// Version of the plugin.
    #[schema(example = "1.0.0")]
    pub version: String,
    /// Version of the package format.
    #[schema(example = "5.0.0")]
    pub package_version: String,
    /// Human-readable description.
    pub description: Option<String>,
    /// URL of the homepage.
    pub homepage: Option<String>,
    /// Whether the plugin can be enabled after the first deployment.
    pub is_hotpluggable: bool,
    /// Compatible versions of Fuel.
    pub fuel_version: Vec<String>,
    /// Groups of the plugin, such as `network`.
    pub groups: Vec<String>,
    /// Authors.
    pub authors: Vec<String>,
    /// Licences.
    pub licenses: Vec<String>,
    /// Compatible releases, each with `os` and `version`.
    #[schema(value_type = Vec<Object>)]
    pub releases: Vec<Json>,
}

request! {
    /// Plugins to synchronize (default: all directories below the plugin root).
    pub struct SyncBody {
        /// IDs of the plugins.
        ids: Option<Vec<i64>> = optional(list_of(identifier)),
    }
}
