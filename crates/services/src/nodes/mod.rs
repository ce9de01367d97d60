//! Nodes: updates, reports of agents, replacement of machines, deletion.

mod delete;
mod replace;
mod report;
mod update;

pub use delete::{DeletedNodes, nodes_delete};
pub use replace::{
    AgentOrigin, ReplacedNode, node_replace, note_connected_machine, note_joined_machine, replaced_change,
};
pub use report::{NodeReport, Reported, node_report};
pub use update::{NodeUpdate, UpdatedNode, node_update, node_update_all, nodes_named};
