//! Kinds of runs, derived from the options of their records.

use stoker_model::Json;

/// The tag of a run, stored in its options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunKind {
    /// Deployment of a cluster; each graph is a child run.
    Deployment,
    /// A child run: one graph of a deployment.
    Graph,
    /// A list of modules for one node.
    Modules,
    /// A module applied again to every node that carries it, in batches.
    Reapply,
}

const KEY: &str = "kind";
/// Keys that identify the kind of legacy options without a tag.
const REAPPLY_KEY: &str = "reapply";
const GRAPH_KEY: &str = "type";

impl RunKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Deployment => "deployment",
            Self::Graph => "graph",
            Self::Modules => "modules",
            Self::Reapply => "reapply",
        }
    }

    /// Tags the options of a new run.
    pub fn put(self, options: &mut Json) {
        if let Json::Object(map) = options {
            map.insert(KEY.to_owned(), Json::from(self.as_str()));
        }
    }

    /// `None`: a later version wrote it. Options of versions before the tag are recognized by their keys, and a list of modules
    /// by its record.
    pub fn of(options: &Json, has_module_list: bool) -> Option<Self> {
        let Some(tag) = options.get(KEY) else {
            return Some(match (has_module_list, options.get(REAPPLY_KEY), options.get(GRAPH_KEY)) {
                (true, ..) => Self::Modules,
                (false, Some(_), _) => Self::Reapply,
                (false, None, Some(_)) => Self::Graph,
                (false, None, None) => Self::Deployment,
            });
        };
        let all = [Self::Deployment, Self::Graph, Self::Modules, Self::Reapply];
        all.into_iter().find(|kind| tag.as_str() == Some(kind.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tag_is_read_as_it_was_written() {
        for kind in [RunKind::Deployment, RunKind::Graph, RunKind::Modules, RunKind::Reapply] {
            let mut options = json!({"version": 1});
            kind.put(&mut options);
            assert_eq!(RunKind::of(&options, false), Some(kind));
            assert_eq!(RunKind::of(&options, true), Some(kind), "the tag decides");
        }
        assert_eq!(RunKind::of(&json!({"version": 9, "kind": "dance"}), false), None);
        assert_eq!(RunKind::of(&json!({"version": 9, "kind": 7}), false), None);
    }

    #[test]
    fn options_of_versions_before_the_tag_are_recognized() {
        assert_eq!(RunKind::of(&json!({"version": 1}), false), Some(RunKind::Deployment));
        assert_eq!(RunKind::of(&json!({"version": 1}), true), Some(RunKind::Modules));
        assert_eq!(RunKind::of(&json!({"version": 1, "type": "default"}), false), Some(RunKind::Graph));
        let reapply = json!({"version": 1, "reapply": {"module": "m", "delay_s": 0, "batches": []}});
        assert_eq!(RunKind::of(&reapply, false), Some(RunKind::Reapply));
    }
}
