//! Records from which the desired state is computed, and the result.

use std::collections::BTreeMap;

use stoker_model::{Cluster, JsonMap, Node, NodeId, Plugin, Release};

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
