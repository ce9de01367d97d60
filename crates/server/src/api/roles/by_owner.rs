//! `/{releases|clusters}/{id}/roles/`: roles of one release or cluster, addressed by name.

use crate::api::named::named_operations;
use crate::api::routes::Routes;

pub(super) fn add_all(routes: Routes) -> Routes {
    cluster::add(release::add(routes))
}

named_operations!(
    release,
    OwnerKind::Release,
    "role",
    "/api/v1/releases/{id}/roles",
    "/api/v1/releases/{id}/roles/{name}",
    "List the roles of a release",
    stoker_api_types::roles::RoleView,
    NewRoleBody,
    RoleBody
);
named_operations!(
    cluster,
    OwnerKind::Cluster,
    "role",
    "/api/v1/clusters/{id}/roles",
    "/api/v1/clusters/{id}/roles/{name}",
    "List the roles of a cluster, including those of its release and its enabled plugins",
    stoker_api_types::roles::RoleView,
    NewRoleBody,
    RoleBody
);
