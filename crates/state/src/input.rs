//! Computes the desired state from records.

use std::collections::BTreeMap;

use stoker_model::{Cluster, JsonMap, Node, NodeId, Plugin, Release};

use crate::tags::{Metadata, elect};
use crate::{common, nodes, settings};

/// Records from one consistent snapshot.
#[derive(Clone, Copy, Debug)]
pub struct StateInput<'a> {
    pub cluster: &'a Cluster,
    pub release: &'a Release,
    /// The plugins enabled in the cluster.
    pub plugins: &'a [EnabledPlugin],
    /// Folder of plugin scripts on nodes.
    pub scripts_root: &'a str,
    /// All nodes of the cluster.
    pub nodes: &'a [Node],
    /// The current primary node of each tag.
    pub primaries: &'a BTreeMap<String, NodeId>,
    /// By node, a fingerprint of its credentials for package repositories, if it needs any; changes when they
    /// change.
    pub package_access: &'a BTreeMap<NodeId, String>,
}

#[derive(Clone, Debug)]
pub struct EnabledPlugin {
    pub plugin: Plugin,
    /// Its settings in the cluster, as far as they differ from the plugin's defaults.
    pub attributes: JsonMap,
    /// Digest of its scripts; `None` if it has no files here.
    pub scripts_digest: Option<String>,
    /// Digest of its package repository; `None` if it has no packages for the cluster.
    pub repository_digest: Option<String>,
}

/// The desired state of a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct DesiredState {
    /// The document that all nodes share.
    pub common: JsonMap,
    /// Ordered by id.
    pub nodes: Vec<NodeState>,
    /// The elected primary node of each tag.
    pub primaries: BTreeMap<String, NodeId>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct NodeState {
    pub id: NodeId,
    pub uid: String,
    /// Tags for placing tasks; the primary node of a tag has `primary-TAG` instead of it.
    pub tags: Vec<String>,
    /// The node's own document.
    pub document: JsonMap,
    /// The record that node filters see.
    pub record: JsonMap,
}

/// Computes the desired state from records alone.
pub fn desired_state(input: &StateInput<'_>) -> DesiredState {
    let metadata = Metadata::new(input);
    let mut members: Vec<&Node> = input.nodes.iter().collect();
    members.sort_by_key(|node| node.id);
    let plain: Vec<Vec<String>> = members.iter().map(|node| metadata.tags_of(node)).collect();
    let primaries = elect(&metadata, &members, &plain, input);
    let states = members.iter().zip(plain).map(|(node, plain)| {
        let tags = with_primaries(plain, node.id, &primaries);
        NodeState {
            id: node.id,
            uid: node.id.to_string(),
            document: nodes::document(node, &tags, input.package_access.get(&node.id)),
            record: nodes::filter_record(node),
            tags,
        }
    });
    let states: Vec<NodeState> = states.collect();
    let settings = settings::settings(input);
    let common = common::document(input, settings, nodes::records(&members, &states));
    DesiredState { common, nodes: states, primaries }
}

fn with_primaries(tags: Vec<String>, id: NodeId, primaries: &BTreeMap<String, NodeId>) -> Vec<String> {
    let rename = |tag: String| if primaries.get(&tag) == Some(&id) { format!("primary-{tag}") } else { tag };
    let mut tags: Vec<String> = tags.into_iter().map(rename).collect();
    tags.sort_unstable();
    tags
}
