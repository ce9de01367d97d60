//! From records to a state.

use std::collections::BTreeMap;

use stoker_model::{Cluster, JsonMap, Node, NodeId, Plugin, Release};

use crate::tags::{Metadata, elect};
use crate::{common, nodes, settings};

/// The records of one moment.
#[derive(Clone, Copy, Debug)]
pub struct StateInput<'a> {
    pub cluster: &'a Cluster,
    pub release: &'a Release,
    /// Those that are enabled in the cluster.
    pub plugins: &'a [EnabledPlugin],
    /// Where scripts of plugins are on nodes.
    pub scripts_root: &'a str,
    /// All nodes of the cluster.
    pub nodes: &'a [Node],
    /// Which node was the primary of a tag so far.
    pub primaries: &'a BTreeMap<String, NodeId>,
    /// What tells credentials of nodes for packages from earlier ones, as far as they need any.
    pub package_access: &'a BTreeMap<NodeId, String>,
}

#[derive(Clone, Debug)]
pub struct EnabledPlugin {
    pub plugin: Plugin,
    /// Its settings in the cluster, as far as they differ from what the plugin proposes.
    pub attributes: JsonMap,
    /// What tells its scripts from others; none if it has no files here.
    pub scripts_digest: Option<String>,
    /// What tells its repository from others; none if it has no packages for the cluster.
    pub repository_digest: Option<String>,
}

/// What a cluster should become.
#[derive(Clone, Debug, PartialEq)]
pub struct NewState {
    /// What all nodes have in common.
    pub common: JsonMap,
    /// By id.
    pub nodes: Vec<NodeState>,
    /// Which node is the primary of a tag from now on.
    pub primaries: BTreeMap<String, NodeId>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct NodeState {
    pub id: NodeId,
    pub uid: String,
    /// Where tasks can be placed; on a primary `primary-TAG` stands in the place of the tag.
    pub tags: Vec<String>,
    /// What it has of its own.
    pub document: JsonMap,
    /// What node filters see of it.
    pub record: JsonMap,
}

/// The documents that follow from records alone.
pub fn new_state(input: &StateInput<'_>) -> NewState {
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
    NewState { common, nodes: states, primaries }
}

fn with_primaries(tags: Vec<String>, id: NodeId, primaries: &BTreeMap<String, NodeId>) -> Vec<String> {
    let named = |tag: String| if primaries.get(&tag) == Some(&id) { format!("primary-{tag}") } else { tag };
    let mut tags: Vec<String> = tags.into_iter().map(named).collect();
    tags.sort_unstable();
    tags
}
