//! Links.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Link on the dashboard.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Link)]
pub struct LinkView {
    #[schema(example = 5)]
    pub id: i64,
    #[schema(example = "Monitoring")]
    pub title: String,
    #[schema(example = "https://monitoring.example/")]
    pub url: String,
    pub description: Option<String>,
    /// Whether the link is hidden in the web UI.
    pub hidden: bool,
}
