//! A graph and its owner.

use std::sync::Arc;

use crate::{
    ClusterId, GraphId, GraphType, JsonMap, OnDefinitionChange, PluginId, ReleaseId, StoredTask, words,
};

words! {
    OwnerKind {
        Release => "release",
        Cluster => "cluster",
        Plugin => "plugin",
    }
}

/// The owner of a graph. A graph has exactly one owner and is deleted with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    Release(ReleaseId),
    Cluster(ClusterId),
    Plugin(PluginId),
}

impl Owner {
    pub const fn new(kind: OwnerKind, id: i64) -> Self {
        match kind {
            OwnerKind::Release => Self::Release(ReleaseId(id)),
            OwnerKind::Cluster => Self::Cluster(ClusterId(id)),
            OwnerKind::Plugin => Self::Plugin(PluginId(id)),
        }
    }

    pub const fn kind(self) -> OwnerKind {
        match self {
            Self::Release(_) => OwnerKind::Release,
            Self::Cluster(_) => OwnerKind::Cluster,
            Self::Plugin(_) => OwnerKind::Plugin,
        }
    }

    pub const fn id(self) -> i64 {
        match self {
            Self::Release(id) => id.0,
            Self::Cluster(id) => id.0,
            Self::Plugin(id) => id.0,
        }
    }
}

/// Metadata of a graph as a whole. `None` means not set, which differs from an empty map.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GraphMetadata {
    pub name: Option<String>,
    /// A YAQL predicate over a node record.
    pub node_filter: Option<String>,
    /// `None` means [`OnDefinitionChange::Rerun`].
    pub on_definition_change: Option<OnDefinitionChange>,
    pub on_success: Option<JsonMap>,
    pub on_error: Option<JsonMap>,
    pub on_stop: Option<JsonMap>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    pub id: GraphId,
    /// Incremented by every change of the graph or its tasks.
    pub generation: i64,
    pub owner: Owner,
    pub graph_type: GraphType,
    pub metadata: GraphMetadata,
    /// Tasks in upload order. Rows are immutable, so all readers of a graph can share them.
    pub tasks: Arc<[StoredTask]>,
}
