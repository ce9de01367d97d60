//! Tags of nodes, and election of the primary node of a tag.

use std::collections::{BTreeMap, BTreeSet};

use stoker_model::{Json, JsonMap, Node, NodeId, NodeStatus};

use crate::StateInput;

/// Clusters in this mode have no primaries.
const WITHOUT_PRIMARIES: &str = "multinode";

/// Role and tag metadata of the release, the cluster and its plugins.
pub(crate) struct Metadata {
    roles: JsonMap,
    tags: JsonMap,
}

impl Metadata {
    /// Merges by name: the cluster takes precedence over the release, and both over plugins.
    pub(crate) fn new(input: &StateInput<'_>) -> Self {
        let (release, cluster) = (&input.release.body, input.cluster);
        let mut roles = release.roles_metadata.clone();
        roles.extend(cluster.roles_metadata.clone());
        let mut tags = release.tags_metadata.clone();
        tags.extend(cluster.tags_metadata.clone());
        for enabled in input.plugins {
            add_missing(&mut roles, &enabled.plugin.body.roles_metadata);
            add_missing(&mut tags, &enabled.plugin.body.tags_metadata);
        }
        Self { roles, tags }
    }

    /// Metadata by role.
    pub(crate) fn roles(&self) -> &JsonMap {
        &self.roles
    }

    /// Tags of a node's current and pending roles. A role without tag metadata is a tag itself.
    pub(crate) fn tags_of(&self, node: &Node) -> Vec<String> {
        let roles = node.roles.iter().chain(&node.pending_roles);
        let tags: BTreeSet<&str> = roles.flat_map(|role| self.tags_of_role(role)).collect();
        tags.into_iter().map(str::to_owned).collect()
    }

    fn tags_of_role<'m>(&'m self, role: &'m str) -> Vec<&'m str> {
        match self.roles.get(role).and_then(|meta| meta.get("tags")).and_then(Json::as_array) {
            Some(tags) => tags.iter().filter_map(Json::as_str).collect(),
            None => vec![role],
        }
    }

    /// Legacy releases define it for the role.
    fn has_primary(&self, tag: &str) -> bool {
        let flag = |metadata: &JsonMap| metadata.get(tag)?.get("has_primary")?.as_bool();
        flag(&self.tags).or_else(|| flag(&self.roles)).unwrap_or(false)
    }
}

fn add_missing(metadata: &mut JsonMap, more: &JsonMap) {
    for (name, meta) in more {
        metadata.entry(name.as_str()).or_insert_with(|| meta.clone());
    }
}

/// Elects one node per tag with a primary: the current primary while it has the tag and is not pending
/// deletion; else the lowest id among deployed nodes, else the lowest id.
pub(crate) fn elect(
    metadata: &Metadata,
    nodes: &[&Node],
    tags: &[Vec<String>],
    input: &StateInput<'_>,
) -> BTreeMap<String, NodeId> {
    let mut candidates: BTreeMap<&str, Vec<&Node>> = BTreeMap::new();
    if input.cluster.mode != WITHOUT_PRIMARIES {
        for (node, tags) in nodes.iter().zip(tags).filter(|(node, _)| !node.pending_deletion) {
            for tag in tags {
                candidates.entry(tag).or_default().push(node);
            }
        }
    }
    let has_primary = candidates.into_iter().filter(|(tag, _)| metadata.has_primary(tag));
    let elected = has_primary.filter_map(|(tag, nodes)| {
        let before = input.primaries.get(tag);
        let rank = |node: &&&Node| (node.status != NodeStatus::Ready, node.id);
        let current = nodes.iter().find(|node| Some(&node.id) == before);
        let primary = current.or_else(|| nodes.iter().min_by_key(rank))?;
        Some((tag.to_owned(), primary.id))
    });
    elected.collect()
}
