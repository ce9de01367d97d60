//! Operations of runs, and their stored form.

mod reapply;
pub mod records;
mod request;

use serde_json::json;
use stoker_model::{ClusterStatus, Json, ModuleRun};

use crate::planning::STATUS_BEFORE;

pub use reapply::{Progress, Reapply};
pub use request::{GraphRequest, RunOptions};

/// Operation of a run, with its parameters. Stored in the options of the run, tagged with `kind`.
#[derive(Clone, Debug, PartialEq)]
pub enum RunKind {
    /// Graphs of a cluster; each is a child run of kind `Graph`. The run sets the status of the cluster to
    /// `deployment`; expressions read the status before it. `None` if an earlier version started the run.
    Deployment { status_before: Option<ClusterStatus> },
    /// One graph: a child run of a deployment.
    Graph(Box<GraphRequest>, Box<RunOptions>),
    /// A list of modules for one node. The list is stored in a separate record; `None` if the record was
    /// deleted with its node.
    Modules(Option<ModuleRun>),
    /// A module applied again, in batches, to every node that has it.
    Reapply(Reapply),
}

const TAG: &str = "kind";
/// Key that only the options of a graph have.
const GRAPH_KEY: &str = "type";

impl RunKind {
    const fn tag(&self) -> &'static str {
        match self {
            Self::Deployment { .. } => "deployment",
            Self::Graph(..) => "graph",
            Self::Modules(_) => "modules",
            Self::Reapply(_) => "reapply",
        }
    }

    /// Encodes the options of a new run. A list of modules is stored separately.
    pub fn encode(&self) -> Json {
        let mut options = match self {
            Self::Deployment { status_before: Some(status) } => {
                json!({"version": 1, STATUS_BEFORE: status.as_str()})
            }
            Self::Deployment { status_before: None } | Self::Modules(_) => json!({"version": 1}),
            Self::Graph(request, run_options) => request::encode(request, run_options),
            Self::Reapply(reapply) => reapply.encode(),
        };
        if let Json::Object(map) = &mut options {
            map.insert(TAG.to_owned(), Json::from(self.tag()));
        }
        options
    }

    /// Decodes the options of a run; `modules` is the record of its module list. Returns `None` if a later
    /// version wrote the options. Options of versions without a tag are recognized by their keys, and a list
    /// of modules by its record.
    pub fn decode(options: &Json, modules: Option<ModuleRun>) -> Option<Self> {
        let tag = match options.get(TAG) {
            Some(tag) => tag.as_str()?,
            None if modules.is_some() => "modules",
            None if options.get(reapply::KEY).is_some() => "reapply",
            None if options.get(GRAPH_KEY).is_some() => "graph",
            None => "deployment",
        };
        match tag {
            "deployment" => {
                let status = options.get(STATUS_BEFORE).and_then(Json::as_str);
                Some(Self::Deployment { status_before: status.and_then(ClusterStatus::parse) })
            }
            "graph" => {
                let (request, run_options) = request::decode(options)?;
                Some(Self::Graph(Box::new(request), Box::new(run_options)))
            }
            "modules" => Some(Self::Modules(modules)),
            "reapply" => Reapply::decode(options).map(Self::Reapply),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use stoker_model::{GraphType, ModuleAction, NodeId, RunId};

    use super::*;

    const DEPLOYMENT: RunKind = RunKind::Deployment { status_before: None };

    fn list() -> ModuleRun {
        ModuleRun {
            run_id: RunId(1),
            node_id: NodeId(2),
            action: ModuleAction::Apply,
            after: None,
            deadline: None,
            items: Vec::new(),
        }
    }

    fn graph() -> RunKind {
        let request = GraphRequest::entire_graph(GraphType::default());
        RunKind::Graph(Box::new(request), Box::default())
    }

    fn reapply() -> RunKind {
        RunKind::Reapply(Reapply { module: "m".to_owned(), batches: vec![vec![NodeId(3)]], delay_s: 5 })
    }

    #[test]
    fn kinds_round_trip_with_their_parameters() {
        let deployment = RunKind::Deployment { status_before: Some(ClusterStatus::Stopped) };
        for kind in [deployment, DEPLOYMENT, graph(), reapply(), RunKind::Modules(None)] {
            assert_eq!(RunKind::decode(&kind.encode(), None), Some(kind));
        }
        let modules = RunKind::Modules(Some(list()));
        assert_eq!(RunKind::decode(&modules.encode(), Some(list())), Some(modules));
        assert_eq!(RunKind::decode(&reapply().encode(), Some(list())), Some(reapply()), "the tag decides");
    }

    #[test]
    fn options_of_other_versions_are_rejected() {
        for options in [
            json!({"version": 9, "kind": "later"}),
            json!({"version": 9, "kind": 7}),
            json!({"version": 9, "kind": "graph", "type": "default"}),
            json!({"version": 1, "kind": "reapply"}),
        ] {
            assert_eq!(RunKind::decode(&options, None), None, "{options}");
        }
    }

    #[test]
    fn rows_without_a_tag_are_decoded() {
        let untagged = |kind: &RunKind| {
            let mut options = kind.encode();
            options.as_object_mut().unwrap().remove("kind");
            options
        };
        assert_eq!(RunKind::decode(&json!({"version": 1}), None), Some(DEPLOYMENT));
        assert_eq!(
            RunKind::decode(&json!({"version": 1}), Some(list())),
            Some(RunKind::Modules(Some(list())))
        );
        assert_eq!(RunKind::decode(&untagged(&graph()), None), Some(graph()));
        assert_eq!(RunKind::decode(&untagged(&reapply()), None), Some(reapply()));
    }
}
