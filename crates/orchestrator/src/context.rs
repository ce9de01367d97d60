//! Dependencies that all components of the orchestrator share. This module depends on no other module of the
//! crate.

use std::sync::Arc;
use std::time::Duration;

use stoker_model::{ErrorChain, Micros, RunId, RunStatus};
use stoker_services::{Clock, Services};
use stoker_settings::Server;
use stoker_store::Store;
use stoker_traces::Tracer;

/// Maximum staleness, in seconds, of cached data that another server may have changed.
const STALE_SECONDS: i64 = 5;

/// Cloning is cheap.
#[derive(Clone)]
pub struct OrchestratorContext {
    pub store: Store,
    pub settings: Arc<Server>,
    pub clock: Clock,
    pub services: Services,
    pub tracer: Tracer,
    /// ID of this server, recorded as the owner of the leases it acquires.
    pub owner: String,
    /// Whether other servers can connect to the same database.
    pub is_shared: bool,
    pub started_at: Micros,
}

impl OrchestratorContext {
    /// Returns the expiry time of a lease that is acquired or renewed at `now`.
    pub(crate) fn leased_until(&self, now: Micros) -> Micros {
        now.plus_seconds(i64::from(self.settings.runs.lease_seconds))
    }

    /// Returns the interval between lease renewals: a quarter of the lease, so that a lease survives several
    /// failed renewals.
    pub(crate) fn lease_renewal(&self) -> Duration {
        Duration::from_secs(u64::from(self.settings.runs.lease_seconds)) / 4
    }

    /// Returns the oldest heartbeat time of a live server. A server whose last heartbeat is older can no
    /// longer hold a lease.
    pub fn alive_since(&self, now: Micros) -> Micros {
        Micros(2 * now.0 - self.leased_until(now).0)
    }

    /// Returns the time until which a record that expires at `expires_at` may be served from a cache.
    pub fn cacheable_until(&self, expires_at: Micros, now: Micros) -> Micros {
        if self.is_shared { expires_at.min(now.plus_seconds(STALE_SECONDS)) } else { expires_at }
    }

    /// Acquires or renews the lease of a job that only one server may execute at a time. Returns whether this
    /// server holds the lease; `false` if the database is unavailable.
    pub async fn take_lease(&self, job: &str, seconds: i64) -> bool {
        let now = self.clock.now();
        match self.store.lease_acquire(job, &self.owner, now, now.plus_seconds(seconds)).await {
            Ok(is_taken) => is_taken,
            Err(error) => {
                tracing::warn!(error = %ErrorChain(&error), job, "cannot acquire the lease of a background job");
                false
            }
        }
    }

    /// Reports whether a run has ended or was deleted. Returns `false` if the database is unavailable.
    pub(crate) async fn has_ended(&self, run: RunId) -> bool {
        let read = async { self.store.read().await?.run_get(run).await };
        match read.await {
            Ok(run) => run.is_none_or(|run| !matches!(run.status, RunStatus::Pending | RunStatus::Running)),
            Err(error) => {
                tracing::warn!(error = %ErrorChain(&error), run.id = run.0, "cannot read whether the run has ended");
                false
            }
        }
    }
}
