//! Stored plans and their cache.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use stoker_model::{ErrorChain, PlanId, PlanRecord};
use stoker_planner::{ExplainedPlan, PlanExtras, decode, decode_extras};
use stoker_store::Session;

use super::Planning;
use crate::error::{ServiceError, ServiceResult};
use crate::fair_semaphore::FairSemaphore;

/// Maximum number of cached plans. Low, because plans of large fleets use much memory; not zero, because clients page
/// through one plan.
const CACHED_MAX: usize = 3;
/// Number of concurrent computations; each uses all cores.
const COMPUTED_MAX: usize = 2;
/// Semaphore key of computations that belong to no cluster.
const NO_CLUSTER: i64 = 0;

/// Plans are immutable, so entries need no invalidation.
pub struct PlanCache {
    cached: Mutex<VecDeque<(PlanId, Arc<ExplainedPlan>)>>,
    turns: FairSemaphore,
}

impl Default for PlanCache {
    fn default() -> Self {
        Self { cached: Mutex::default(), turns: FairSemaphore::new(COMPUTED_MAX) }
    }
}

impl PlanCache {
    pub(super) fn put(&self, id: PlanId, plan: Arc<ExplainedPlan>) {
        let mut cached = self.cached.lock();
        cached.retain(|(known, _)| *known != id);
        cached.push_front((id, plan));
        cached.truncate(CACHED_MAX);
    }

    fn get(&self, id: PlanId) -> Option<Arc<ExplainedPlan>> {
        let cached = self.cached.lock();
        cached.iter().find(|(known, _)| *known == id).map(|(_, plan)| Arc::clone(plan))
    }

    pub fn n_waiting(&self) -> usize {
        self.turns.n_waiting()
    }

    /// Runs CPU-bound work on a blocking thread, with bounded concurrency.
    pub async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> ServiceResult<T> {
        self.compute_for(NO_CLUSTER, work).await
    }

    /// Like [`Self::compute`], with fair scheduling between clusters.
    pub async fn compute_for<T: Send + 'static>(
        &self,
        cluster: i64,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> ServiceResult<T> {
        let failed = |error| ServiceError::internal_from("a planning task panicked or was cancelled", error);
        let _turn = self.turns.acquire(cluster).await;
        tokio::task::spawn_blocking(work).await.map_err(failed)
    }
}

/// A plan and its record.
pub struct StoredPlan {
    pub record: PlanRecord,
    pub explained: Arc<ExplainedPlan>,
}

impl StoredPlan {
    /// Reads the data of a plan beside its document. Plans of earlier versions have none, and data in the format of a
    /// newer version is ignored.
    pub async fn extras(planning: &Planning, session: &mut Session, id: PlanId) -> ServiceResult<PlanExtras> {
        let Some(bytes) = session.plan_extras(id).await? else { return Ok(PlanExtras::default()) };
        let decoded = planning.plans.compute(move || decode_extras(&bytes)).await?;
        Ok(decoded.unwrap_or_else(|error| {
            tracing::warn!(plan.id = id.0, error = %ErrorChain(&error), "cannot read the extras of a plan");
            PlanExtras::default()
        }))
    }

    /// Reads the plan of a record.
    pub async fn read(planning: &Planning, session: &mut Session, record: PlanRecord) -> ServiceResult<Self> {
        if let Some(explained) = planning.plans.get(record.id) {
            return Ok(Self { record, explained });
        }
        let bytes = session.plan_document(record.id).await?.ok_or_else(|| ServiceError::not_found("Plan"))?;
        let decoded = planning.plans.compute(move || decode(&bytes)).await?;
        let explained = Arc::new(decoded.map_err(|error| {
            let message = ErrorChain(&error).to_string();
            ServiceError::internal_from(message, format!("plan {} cannot be read", record.id))
        })?);
        planning.plans.put(record.id, Arc::clone(&explained));
        Ok(Self { record, explained })
    }
}
