//! Request and response types for the assignment of nodes to clusters.

use stoker_manifest::reader::{identifier, list_of, string_with_length};

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
