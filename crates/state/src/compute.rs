//! Computes the desired state from records.

use std::collections::BTreeMap;

use stoker_model::{Node, NodeId};

use crate::input::{DesiredState, NodeState, StateInput};
use crate::tags::{Metadata, elect};
use crate::{common, nodes, settings};

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
