//! What all parts of the orchestrator share, and what depends on nothing else.

use std::sync::Arc;
use std::time::Duration;

use stoker_model::{Micros, RunId, RunStatus};
use stoker_services::{Clock, Services};
use stoker_settings::Server;
use stoker_store::Store;
use stoker_traces::Tracer;

/// Upper bound in seconds for the age of cached data that another server may have changed.
const STALE_SECONDS: i64 = 5;

/// Cloning is cheap.
#[derive(Clone)]
pub struct OrchestratorContext {
    pub store: Store,
    pub settings: Arc<Server>,
    pub clock: Clock,
    pub services: Services,
    pub tracer: Tracer,
    /// Id of this server: the owner of the leases it takes.
    pub owner: String,
    /// Whether other servers can reach the database, now or later.
    pub is_shared: bool,
    pub started_at: Micros,
}

impl OrchestratorContext {
    /// When a lease taken now expires.
    pub(crate) fn leased_until(&self, now: Micros) -> Micros {
        now.plus_seconds(i64::from(self.settings.runs.lease_seconds))
    }

    /// Interval of lease renewal: several attempts before a lease expires.
    pub(crate) fn lease_renewal(&self) -> Duration {
        Duration::from_secs(u64::from(self.settings.runs.lease_seconds)) / 4
    }

    /// A server whose last heartbeat is older is gone: it cannot hold a lease any more.
    pub fn alive_since(&self, now: Micros) -> Micros {
        Micros(2 * now.0 - self.leased_until(now).0)
    }

    /// How long a cached record that expires at `expires_at` may be used.
    pub fn cacheable_until(&self, expires_at: Micros, now: Micros) -> Micros {
        if self.is_shared { expires_at.min(now.plus_seconds(STALE_SECONDS)) } else { expires_at }
    }

    /// Whether this server holds the lease of a job that one of all servers does at a time.
    pub async fn take_lease(&self, job: &str, seconds: i64) -> bool {
        let now = self.clock.now();
        match self.store.lease_take(job, &self.owner, now, now.plus_seconds(seconds)).await {
            Ok(is_taken) => is_taken,
            Err(error) => {
                tracing::warn!(error = %error, job, "cannot take the lease of a job");
                false
            }
        }
    }

    /// Whether a run has ended or was deleted. While the database does not answer, it has not.
    pub(crate) async fn has_ended(&self, run: RunId) -> bool {
        let read = async { self.store.read().await?.run_get(run).await };
        match read.await {
            Ok(run) => run.is_none_or(|run| !matches!(run.status, RunStatus::Pending | RunStatus::Running)),
            Err(error) => {
                tracing::warn!(error = %error, run.id = run.0, "cannot read whether the run has ended");
                false
            }
        }
    }
}
