//! A layer of a graph, and the order in which layers are laid.

use std::cmp::Ordering;
use std::fmt;

use stoker_model::{GraphMetadata, MergeOrder, OwnerKind, Task};

use crate::version::compare_versions;

/// Whose layer it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    Release,
    Cluster,
    Plugin { name: String, version: String },
}

impl Source {
    pub fn kind(&self) -> OwnerKind {
        match self {
            Self::Release => OwnerKind::Release,
            Self::Cluster => OwnerKind::Cluster,
            Self::Plugin { .. } => OwnerKind::Plugin,
        }
    }

    pub(crate) fn is_plugin(&self) -> bool {
        matches!(self, Self::Plugin { .. })
    }

    /// Weak to strong. Plugins are in order of name, then version.
    fn compare(&self, other: &Self, order: MergeOrder) -> Ordering {
        let rank = |source: &Self| match (source, order) {
            (Self::Release, _) => 0,
            (Self::Cluster, MergeOrder::ReleaseClusterPlugins) => 1,
            (Self::Plugin { .. }, _) => 2,
            (Self::Cluster, MergeOrder::ReleasePluginsCluster) => 3,
        };
        rank(self).cmp(&rank(other)).then_with(|| match (self, other) {
            (Self::Plugin { name: a, version: v }, Self::Plugin { name: b, version: w }) => {
                a.cmp(b).then_with(|| compare_versions(v, w))
            }
            _ => Ordering::Equal,
        })
    }
}

/// `the release`, `the cluster`, or plugin `name` 1.0.0.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Release => f.write_str("the release"),
            Self::Cluster => f.write_str("the cluster"),
            Self::Plugin { name, version } => write!(f, "plugin `{name}` {version}"),
        }
    }
}

/// What one owner says about a graph of one type. Tasks are borrowed: a merge copies none of their fields.
#[derive(Clone, Debug)]
pub struct Layer<'a> {
    pub source: Source,
    pub metadata: Option<&'a GraphMetadata>,
    /// In the order of the upload, ids unique.
    pub tasks: Vec<&'a Task>,
}

impl<'a> Layer<'a> {
    /// Tasks of one owner, without anything about the graph as a whole.
    pub fn of_tasks(source: Source, tasks: &'a [Task]) -> Self {
        Self { source, metadata: None, tasks: tasks.iter().collect() }
    }
}

/// Weak to strong; layers that are equal in rank stay as they were given.
pub(crate) fn in_order<'l, 'a>(layers: &'l [Layer<'a>], order: MergeOrder) -> Vec<&'l Layer<'a>> {
    let mut ordered: Vec<&Layer<'a>> = layers.iter().collect();
    ordered.sort_by(|a, b| a.source.compare(&b.source, order));
    ordered
}
