//! How tags are shown and read.

use serde::Serialize;
use stoker_manifest::reader::string_of;
use stoker_model::{Json, JsonMap};
use utoipa::ToSchema;
use stoker_services::metadata::sections;

use crate::http::body::Document;
use crate::http::error::ApiResult;

#[derive(Serialize, ToSchema)]
#[schema(as = Tag)]
pub(super) struct TagView {
    #[schema(example = "database")]
    pub(super) name: String,
    /// `has_primary` and others.
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
        let name = fields.optional("name", string_of(1..=255));
        let meta = fields.optional("meta", sections::tag_meta);
        Some((name, meta))
    })
}

/// A new tag.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documentation of the body, which is read with all its problems")]
pub(super) struct NewTagBody {
    #[schema(example = "database", min_length = 1, max_length = 255, pattern = "^[a-zA-Z0-9_-]+$")]
    name: String,
    meta: TagMeta,
}

/// What may change about a tag.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documentation of the body, which is read with all its problems")]
pub(super) struct TagBody {
    /// May be repeated, but not changed.
    #[schema(nullable = false, example = "database", min_length = 1, max_length = 255)]
    name: Option<String>,
    #[schema(nullable = false)]
    meta: Option<TagMeta>,
}

/// What is said about a tag. Other fields are kept as they come.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documentation of the body, which is read with all its problems")]
pub(super) struct TagMeta {
    /// Whether one of its nodes is the first among them.
    #[schema(nullable = false)]
    has_primary: Option<bool>,
}
