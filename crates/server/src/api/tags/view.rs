//! Request and response types of tags.

use serde::Serialize;
use stoker_manifest::reader::string_with_length;
use stoker_model::{Json, JsonMap};
use stoker_services::metadata::sections;
use utoipa::ToSchema;

use crate::http::body::Document;
use crate::http::error::ApiResult;

/// Tag of a release or a cluster.
#[derive(Serialize, ToSchema)]
#[schema(as = Tag)]
pub(super) struct TagView {
    /// Name of the tag.
    #[schema(example = "database")]
    pub(super) name: String,
    /// Metadata: `has_primary` and others.
    #[schema(value_type = Object)]
    pub(super) meta: Json,
}

pub(super) fn read_new(document: &Document) -> ApiResult<(String, JsonMap)> {
    document.fields(|fields| {
        let name = fields.required("name", sections::path_name);
        let meta = fields.required("meta", sections::tag_meta);
        Some((name?, meta?))
    })
}

pub(super) fn read_change(document: &Document) -> ApiResult<(Option<String>, Option<JsonMap>)> {
    document.fields(|fields| {
        let name = fields.optional("name", string_with_length(1..=255));
        let meta = fields.optional("meta", sections::tag_meta);
        Some((name, meta))
    })
}

/// New tag.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
pub(super) struct NewTagBody {
    /// Name of the tag, unique within its owner.
    #[schema(example = "database", min_length = 1, max_length = 255, pattern = "^[a-zA-Z0-9_-]+$")]
    name: String,
    /// Metadata of the tag.
    meta: TagMeta,
}

/// Update of a tag. Omitted fields are unchanged.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
pub(super) struct TagBody {
    /// Name of the tag. Cannot be changed; must equal the current name if present.
    #[schema(nullable = false, example = "database", min_length = 1, max_length = 255)]
    name: Option<String>,
    /// Metadata of the tag; replaces the current one.
    #[schema(nullable = false)]
    meta: Option<TagMeta>,
}

/// Metadata of a tag. Unknown fields are stored unchanged.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "documents the request body, which is parsed field by field to report every problem"
)]
pub(super) struct TagMeta {
    /// Whether one node of the tag is its primary.
    #[schema(nullable = false)]
    has_primary: Option<bool>,
}
