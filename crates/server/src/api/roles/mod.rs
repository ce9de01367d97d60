//! Roles of releases and clusters.

use stoker_api_types::roles::{NewRoleBody, RoleBody, RoleView, VolumeOfRole};
use stoker_model::Json;
use stoker_services::ServiceResult;
use stoker_services::metadata::holder::{NamedSection, RoleOwner};
use stoker_services::metadata::named::{StoredEntry, role_create, role_delete, role_update};
use stoker_store::WriteTransaction;
use utoipa_axum::router::OpenApiRouter;

use crate::api::named::{NamedRecord, named_operations};
use crate::api::routes::Routes;
use crate::http::etag::IfMatch;
use crate::state::App;

pub(crate) fn routes() -> OpenApiRouter<App> {
    cluster::add(release::add(Routes::new("roles"))).finish()
}

/// Roles of a release or cluster.
struct Role;

impl NamedRecord for Role {
    const SECTION: NamedSection = NamedSection::Roles;
    type View = RoleView;
    type New = NewRoleBody;
    type Update = RoleBody;

    fn render(holder: &RoleOwner, name: &str, meta: Json) -> RoleView {
        let text = |volume: &Json, key| volume.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
        let volumes = holder.volumes_of_role(name);
        let volumes = volumes.iter().map(|volume| VolumeOfRole {
            id: text(volume, "id"),
            allocate_size: text(volume, "allocate_size"),
        });
        RoleView { name: name.to_owned(), meta, volumes_roles_mapping: volumes.collect() }
    }

    async fn create(
        writing: WriteTransaction,
        holder: RoleOwner,
        new: NewRoleBody,
    ) -> ServiceResult<StoredEntry> {
        role_create(writing, holder, new).await
    }

    async fn update(
        writing: WriteTransaction,
        holder: RoleOwner,
        name: &str,
        condition: &IfMatch,
        update: RoleBody,
    ) -> ServiceResult<StoredEntry> {
        role_update(writing, holder, name, condition, update).await
    }

    async fn delete(
        writing: WriteTransaction,
        holder: RoleOwner,
        name: &str,
        condition: &IfMatch,
    ) -> ServiceResult<()> {
        role_delete(writing, holder, name, condition).await
    }
}

named_operations!(
    release,
    OwnerKind::Release,
    "role",
    "/api/v1/releases/{id}/roles",
    "/api/v1/releases/{id}/roles/{name}",
    "List the roles of a release",
    super::Role,
    stoker_api_types::roles::RoleView,
    stoker_api_types::roles::NewRoleBody,
    stoker_api_types::roles::RoleBody
);
named_operations!(
    cluster,
    OwnerKind::Cluster,
    "role",
    "/api/v1/clusters/{id}/roles",
    "/api/v1/clusters/{id}/roles/{name}",
    "List the roles of a cluster, including those of its release and its enabled plugins",
    super::Role,
    stoker_api_types::roles::RoleView,
    stoker_api_types::roles::NewRoleBody,
    stoker_api_types::roles::RoleBody
);
