//! Nodes: updates, reports of agents, deletion.

mod delete;
mod report;
mod update;

pub use delete::{DeletedNodes, nodes_delete};
pub use report::{NodeReport, Reported, node_report};
pub use update::{NodeUpdate, node_update, node_update_all};
