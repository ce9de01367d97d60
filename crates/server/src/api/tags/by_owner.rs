//! `/{releases|clusters}/{id}/tags/`: the tags of one owner, by name.

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
    "The tags of a release",
    TagView,
    NewTagBody,
    TagBody
);
named_operations!(
    cluster,
    OwnerKind::Cluster,
    "tag",
    "/api/v1/clusters/{id}/tags",
    "/api/v1/clusters/{id}/tags/{name}",
    "The tags of a cluster: its own, those of its release and of its enabled plugins",
    TagView,
    NewTagBody,
    TagBody
);
