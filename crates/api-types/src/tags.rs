//! Request and response types for tags.

use serde::{Deserialize, Serialize};
use stoker_manifest::reader::string_with_length;
use stoker_model::{Json, JsonMap};
use utoipa::ToSchema;

use crate::metadata::{TagMeta, path_name, tag_meta};
use crate::request::request;

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

request! {
    /// New tag.
    pub struct NewTagBody {
        /// Name of the tag, unique within its owner.
        #[schema(example = "database", min_length = 1, max_length = 255, pattern = "^[a-zA-Z0-9_-]+$")]
        name: String = required(path_name),
        /// Metadata of the tag.
        #[schema(value_type = TagMeta)]
        meta: JsonMap = required(tag_meta),
    }
}

request! {
    /// Update of a tag. Omitted fields are unchanged.
    pub struct TagBody {
        /// Name of the tag. Cannot be changed; must equal the current name if present.
        #[schema(nullable = false, example = "database", min_length = 1, max_length = 255)]
        name: Option<String> = optional(string_with_length(1..=255)),
        /// Metadata of the tag; replaces the current one.
        #[schema(nullable = false, value_type = Option<TagMeta>)]
        meta: Option<JsonMap> = optional(tag_meta),
    }
}
