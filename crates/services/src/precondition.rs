//! Optimistic concurrency: the record versions that a caller's `If-Match` accepts.

use std::fmt::Display;

use stoker_model::Graph;

use crate::error::{ServiceError, ServiceResult};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Precondition {
    /// Accepts every version.
    Any,
    Versions(Vec<String>),
}

impl Precondition {
    pub fn check(&self, current: impl Display) -> ServiceResult<()> {
        let current = current.to_string();
        match self {
            Self::Any => Ok(()),
            Self::Versions(known) if known.contains(&current) => Ok(()),
            Self::Versions(_) => Err(ServiceError::Stale { current }),
        }
    }

    /// Checks the precondition for a record that does not exist: it fails if the caller expects a version.
    pub fn check_absent(&self) -> ServiceResult<()> {
        match self {
            Self::Any => Ok(()),
            Self::Versions(_) => Err(ServiceError::Stale { current: "none: it does not exist".to_owned() }),
        }
    }
}

/// Returns the version of a graph. A graph is looked up by owner and type, and a deleted graph may be
/// recreated under the same key; the id distinguishes the two.
pub fn graph_version(graph: &Graph) -> String {
    format!("{}.{}", graph.id, graph.generation)
}
