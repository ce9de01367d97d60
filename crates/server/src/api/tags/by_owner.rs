//! `/{releases|clusters}/{id}/tags/`: tags of one release or cluster, addressed by name.

use crate::api::named::named_operations;
use crate::api::routes::Routes;

pub(super) fn add_all(routes: Routes) -> Routes {
    cluster::add(release::add(routes))
}

named_operations!(
    release,
    OwnerKind::Release,
    "tag",
    "/api/v1/releases/{id}/tags",
    "/api/v1/releases/{id}/tags/{name}",
    "List the tags of a release",
    stoker_api_types::tags::TagView,
    NewTagBody,
    TagBody
);
named_operations!(
    cluster,
    OwnerKind::Cluster,
    "tag",
    "/api/v1/clusters/{id}/tags",
    "/api/v1/clusters/{id}/tags/{name}",
    "List the tags of a cluster, including those of its release and its enabled plugins",
    stoker_api_types::tags::TagView,
    NewTagBody,
    TagBody
);
