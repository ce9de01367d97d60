//! Request and response types for the health of the server.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Health {
    /// `ok`, or `failing` if a component is failing.
    #[schema(example = "ok")]
    pub status: String,
    /// `ok`, or a description of the failure.
    #[schema(example = "ok")]
    pub database: String,
}
