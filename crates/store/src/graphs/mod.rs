//! Graphs, their owners and their tasks.

mod cache;
mod diff;
mod read;
mod source;
mod tasks;
mod write;

use stoker_model::{GraphType, Owner, OwnerKind};

pub(crate) use cache::TaskCache;

/// Which graphs to list; a field that is `None` excludes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GraphFilter {
    pub owners: Option<Vec<Owner>>,
    pub types: Option<Vec<GraphType>>,
}

/// The table and column that tie a graph to an owner of this kind.
const fn relation(kind: OwnerKind) -> (&'static str, &'static str) {
    match kind {
        OwnerKind::Release => ("release_deployment_graphs", "release_id"),
        OwnerKind::Cluster => ("cluster_deployment_graphs", "cluster_id"),
        OwnerKind::Plugin => ("plugin_deployment_graphs", "plugin_id"),
    }
}
