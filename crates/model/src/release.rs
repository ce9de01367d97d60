//! A release: a deployable product version with its graphs, roles and settings.

use crate::{Json, JsonMap, Micros, ReleaseId, words};

words! {
    ReleaseState {
        Available => "available",
        Unavailable => "unavailable",
        ManageOnly => "manageonly",
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Release {
    pub id: ReleaseId,
    pub generation: i64,
    pub body: NewRelease,
    pub created_at: Micros,
}

/// A release before it has an id: all fields that a user may change.
#[derive(Clone, Debug, PartialEq)]
pub struct NewRelease {
    pub name: String,
    pub version: String,
    pub description: Option<String>,
    pub operating_system: String,
    pub state: ReleaseState,
    pub modes_metadata: JsonMap,
    pub roles_metadata: JsonMap,
    pub tags_metadata: JsonMap,
    pub volumes_roles_mapping: JsonMap,
    /// `{editable, generated}`.
    pub attributes_metadata: JsonMap,
    pub networks_metadata: JsonMap,
    pub volumes_metadata: JsonMap,
    pub wizard_metadata: JsonMap,
    pub components_metadata: Vec<Json>,
    pub required_component_types: Vec<String>,
    pub extensions: Vec<String>,
    /// User-defined fields, stored as received.
    pub extra: JsonMap,
}

impl NewRelease {
    pub fn is_deployable(&self) -> bool {
        self.state != ReleaseState::Unavailable
    }
}
