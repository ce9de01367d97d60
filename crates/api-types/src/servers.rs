//! Servers of the group and their background tasks.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Server of the group.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Server)]
pub struct ServerView {
    /// ID of the server, new with every start. `embedded` if the server has an embedded database.
    pub id: String,
    /// Name of the server.
    #[schema(example = "controller-1")]
    pub name: String,
    /// Listen address.
    #[schema(example = "0.0.0.0:8000")]
    pub address: String,
    /// Version of the server.
    #[schema(example = "0.1.0")]
    pub version: String,
    /// Whether the heartbeat of the server is recent.
    pub is_alive: bool,
    /// Whether the server receives messages from other servers over NATS.
    pub hears_bus: bool,
    /// Start time.
    pub started_at: String,
    /// Time of the last heartbeat.
    pub seen_at: String,
    /// IDs of the runs and child runs that the server drives.
    pub runs: Vec<i64>,
    /// Background tasks. Only for the server that handles the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background_tasks: Option<Vec<BackgroundTaskView>>,
}

/// Background loop of the server.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = BackgroundTask)]
pub struct BackgroundTaskView {
    /// Name of the task.
    #[schema(example = "run leases")]
    pub name: String,
    /// Seconds between two passes; absent for a task that waits for events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period_seconds: Option<f64>,
    /// Start of the latest pass.
    pub started_at: Option<String>,
    /// End of the latest pass that succeeded.
    pub succeeded_at: Option<String>,
    /// End of the latest pass that failed.
    pub failed_at: Option<String>,
    /// Error of the latest failed pass.
    pub error: Option<String>,
    /// Number of failed passes since the server started.
    pub n_failures: u64,
    /// Whether the latest finished pass failed.
    pub is_failing: bool,
    /// Whether the task returned or panicked. It runs again after a restart of the server.
    #[serde(default)]
    pub has_ended: bool,
    /// Whether no pass has begun for several periods: the latest pass hangs.
    #[serde(default)]
    pub is_overdue: bool,
}
