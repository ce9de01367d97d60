//! Optimistic concurrency: the versions of a record that a caller means to change.

use std::fmt::Display;

use stoker_model::Graph;

use crate::error::{ServiceError, ServiceResult};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Precondition {
    /// Whatever version is stored.
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

    /// For a record that does not exist: a caller who knows a version of it is too late.
    pub fn check_absent(&self) -> ServiceResult<()> {
        match self {
            Self::Any => Ok(()),
            Self::Versions(_) => Err(ServiceError::Stale { current: "none: it is not there".to_owned() }),
        }
    }
}

/// A graph is found by owner and type, under which another one may be created after it was deleted; the id tells the two
/// apart.
pub fn graph_version(graph: &Graph) -> String {
    format!("{}.{}", graph.id, graph.generation)
}
