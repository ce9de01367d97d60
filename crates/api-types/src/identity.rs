//! Errors of the identity API.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Error of an identity operation.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct IdentityErrorBody {
    pub error: IdentityErrorDetail,
}

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct IdentityErrorDetail {
    #[schema(example = 401)]
    pub code: u16,
    #[schema(example = "Unauthorized")]
    pub title: String,
    pub message: String,
}
