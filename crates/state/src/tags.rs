//! Which tags a node has, and which node is the first among those that share one.

use std::collections::{BTreeMap, BTreeSet};

use stoker_model::{Json, JsonMap, Node, NodeId, NodeStatus};

use crate::StateInput;

/// A cluster of this mode has no primaries: there is nobody to be first among.
const WITHOUT_PRIMARIES: &str = "multinode";

/// What is said about roles and tags by the release, the cluster and its plugins.
pub(crate) struct Metadata {
    roles: JsonMap,
    tags: JsonMap,
}

impl Metadata {
    /// Where two say something about one name, the cluster counts before the release, and both before plugins.
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

    /// Tags of the roles that a node has or is to get. A role of which no tags are known is a tag itself.
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

    /// Older releases say it of the role.
    fn has_primary(&self, tag: &str) -> bool {
        let says = |metadata: &JsonMap| metadata.get(tag)?.get("has_primary")?.as_bool();
        says(&self.tags).or_else(|| says(&self.roles)).unwrap_or(false)
    }
}

fn add_missing(metadata: &mut JsonMap, more: &JsonMap) {
    for (name, meta) in more {
        metadata.entry(name.as_str()).or_insert_with(|| meta.clone());
    }
}

/// One node for each tag that has a primary: the one that was it before, as long as it has the tag and stays in the
/// cluster; else the lowest id among those that are deployed, else the lowest id.
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
        let is_new = |node: &&&Node| (node.status != NodeStatus::Ready, node.id);
        let same = nodes.iter().find(|node| Some(&node.id) == before);
        let primary = same.or_else(|| nodes.iter().min_by_key(is_new))?;
        Some((tag.to_owned(), primary.id))
    });
    elected.collect()
}
