//! Graphs, their owners and their tasks.

mod diff;
mod read;
mod source;
mod tasks;
mod write;

use stoker_model::{GraphType, Owner, OwnerKind};

/// Filter for graphs; a field that is `None` matches all graphs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GraphFilter {
    pub owners: Option<Vec<Owner>>,
    pub types: Option<Vec<GraphType>>,
}

/// Returns the table and column that link a graph to an owner of this type.
const fn relation(kind: OwnerKind) -> (&'static str, &'static str) {
    match kind {
        OwnerKind::Release => ("release_deployment_graphs", "release_id"),
        OwnerKind::Cluster => ("cluster_deployment_graphs", "cluster_id"),
        OwnerKind::Plugin => ("plugin_deployment_graphs", "plugin_id"),
    }
}
