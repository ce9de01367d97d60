//! Request and response types for the assignment of nodes to clusters.

use serde::{Deserialize, Serialize};
use stoker_manifest::reader::{identifier, list_of, string_with_length};
use utoipa::ToSchema;

use crate::error::ErrorItem;

use crate::request::request;

request! {
    /// Node and its roles.
    pub struct Assignment {
        /// ID of the node.
        #[schema(example = 1, minimum = 1)]
        id: i64 = required(identifier),
        /// Roles of the node after the next run.
        #[schema(example = json!(["controller"]))]
        roles: Vec<String> = required(list_of(string_with_length(1..=255))),
    }
}

request! {
    /// Node to unassign.
    pub struct Unassignment {
        /// ID of the node.
        #[schema(example = 1, minimum = 1)]
        id: i64 = required(identifier),
    }
}

/// Result of an assignment that has warnings.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = AssignmentResult)]
pub struct AssignmentView {
    /// Recommendations of the assigned roles that the cluster does not meet.
    pub warnings: Vec<ErrorItem>,
}
