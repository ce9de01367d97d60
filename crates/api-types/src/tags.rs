//! Request and response types for tags.

use serde::{Deserialize, Serialize};
use stoker_model::Json;
use utoipa::ToSchema;

/// Tag of a release or a cluster.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Tag)]
pub struct TagView {
    /// Name of the tag.
    #[schema(example = "database")]
    pub name: String,
    /// Metadata: `has_primary` and others.
    #[schema(value_type = Object)]
    pub meta: Json,
}
