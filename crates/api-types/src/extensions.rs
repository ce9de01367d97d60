//! Request and response types for extensions.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Extension)]
pub struct ExtensionView {
    #[schema(example = "volume_manager")]
    pub name: String,
    #[schema(example = "1.0.0")]
    pub version: String,
    pub description: String,
    /// Node features that the extension provides.
    pub provides: Vec<String>,
}
