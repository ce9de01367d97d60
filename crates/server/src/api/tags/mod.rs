//! Tags of releases and clusters. Roles assign them to nodes, and tasks are placed by them.

use stoker_api_types::tags::{NewTagBody, TagBody, TagView};
use stoker_model::Json;
use stoker_services::ServiceResult;
use stoker_services::metadata::holder::{NamedSection, RoleOwner};
use stoker_services::metadata::named::{StoredEntry, tag_create, tag_delete, tag_update};
use stoker_store::WriteTransaction;
use utoipa_axum::router::OpenApiRouter;

use crate::api::named::{NamedRecord, named_operations};
use crate::api::routes::Routes;
use crate::http::etag::IfMatch;
use crate::state::App;

pub(crate) fn routes() -> OpenApiRouter<App> {
    cluster::add(release::add(Routes::new("tags"))).finish()
}

/// Tags of a release or cluster.
struct Tag;

impl NamedRecord for Tag {
    const SECTION: NamedSection = NamedSection::Tags;
    type View = TagView;
    type New = NewTagBody;
    type Update = TagBody;

    fn render(_: &RoleOwner, name: &str, meta: Json) -> TagView {
        TagView { name: name.to_owned(), meta }
    }

    async fn create(
        writing: WriteTransaction,
        holder: RoleOwner,
        new: NewTagBody,
    ) -> ServiceResult<StoredEntry> {
        tag_create(writing, holder, new).await
    }

    async fn update(
        writing: WriteTransaction,
        holder: RoleOwner,
        name: &str,
        condition: &IfMatch,
        update: TagBody,
    ) -> ServiceResult<StoredEntry> {
        tag_update(writing, holder, name, condition, update).await
    }

    async fn delete(
        writing: WriteTransaction,
        holder: RoleOwner,
        name: &str,
        condition: &IfMatch,
    ) -> ServiceResult<()> {
        tag_delete(writing, holder, name, condition).await
    }
}

named_operations!(
    release,
    OwnerKind::Release,
    "tag",
    "/api/v1/releases/{id}/tags",
    "/api/v1/releases/{id}/tags/{name}",
    "List the tags of a release",
    super::Tag,
    stoker_api_types::tags::TagView,
    stoker_api_types::tags::NewTagBody,
    stoker_api_types::tags::TagBody
);
named_operations!(
    cluster,
    OwnerKind::Cluster,
    "tag",
    "/api/v1/clusters/{id}/tags",
    "/api/v1/clusters/{id}/tags/{name}",
    "List the tags of a cluster, including those of its release and its enabled plugins",
    super::Tag,
    stoker_api_types::tags::TagView,
    stoker_api_types::tags::NewTagBody,
    stoker_api_types::tags::TagBody
);
