//! Layers of a graph and their precedence.

use std::cmp::Ordering;
use std::fmt;

use stoker_model::{GraphMetadata, MergeOrder, OwnerKind, Task, compare_versions};

/// The owner of a layer.
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

    /// Returns the layer in diagnostics and stored plans: `release`, `cluster`, or `plugin NAME VERSION`.
    pub fn label(&self) -> String {
        match self {
            Self::Release => "release".to_owned(),
            Self::Cluster => "cluster".to_owned(),
            Self::Plugin { name, version } => format!("plugin {name} {version}"),
        }
    }

    /// Parses a [`Self::label`].
    pub fn of_label(label: &str) -> Option<Self> {
        match label {
            "release" => Some(Self::Release),
            "cluster" => Some(Self::Cluster),
            _ => {
                let (name, version) = label.strip_prefix("plugin ")?.rsplit_once(' ')?;
                Some(Self::Plugin { name: name.to_owned(), version: version.to_owned() })
            }
        }
    }

    pub(crate) fn is_plugin(&self) -> bool {
        matches!(self, Self::Plugin { .. })
    }

    /// Orders by precedence, weakest first. Plugins are ordered by name, then by version.
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

/// The tasks and metadata that one owner contributes to a graph type. Tasks are borrowed: merging copies no
/// fields.
#[derive(Clone, Debug)]
pub struct Layer<'a> {
    pub source: Source,
    pub metadata: Option<&'a GraphMetadata>,
    /// Tasks in upload order, with unique IDs.
    pub tasks: Vec<&'a Task>,
}

impl<'a> Layer<'a> {
    /// Returns a layer of tasks without graph metadata.
    pub fn of_tasks(source: Source, tasks: &'a [Task]) -> Self {
        Self { source, metadata: None, tasks: tasks.iter().collect() }
    }
}

/// Sorts layers by precedence, weakest first; stable for layers of equal rank.
pub(crate) fn in_order<'l, 'a>(layers: &'l [Layer<'a>], order: MergeOrder) -> Vec<&'l Layer<'a>> {
    let mut ordered: Vec<&Layer<'a>> = layers.iter().collect();
    ordered.sort_by(|a, b| a.source.compare(&b.source, order));
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_can_be_parsed() {
        let plugin = Source::Plugin { name: "my plugin".to_owned(), version: "1.0.0".to_owned() };
        assert_eq!(plugin.label(), "plugin my plugin 1.0.0");
        for source in [Source::Release, Source::Cluster, plugin] {
            assert_eq!(Source::of_label(&source.label()), Some(source));
        }
        for unknown in ["", "plugin", "plugin x", "releases", "the cluster"] {
            assert_eq!(Source::of_label(unknown), None, "{unknown}");
        }
    }
}
