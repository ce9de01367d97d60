//! Plans that were stored, and a few of them at hand.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use stoker_model::{PlanId, PlanRecord};
use stoker_planner::{ExplainedPlan, decode};
use stoker_store::Session;

use super::Planning;
use crate::error::{ServiceError, ServiceResult};
use crate::fair_semaphore::FairSemaphore;

/// Plans of large fleets are large. Whoever looks at one asks for many pages of it.
const KEPT_MAX: usize = 3;
/// So many are computed at a time; each uses all cores.
const COMPUTED_MAX: usize = 2;
/// Whose turn it is when somebody looks at something.
const NO_CLUSTER: i64 = 0;

/// Plans never change, so that what was read once stays right.
pub struct PlanCache {
    kept: Mutex<VecDeque<(PlanId, Arc<ExplainedPlan>)>>,
    turns: FairSemaphore,
}

impl Default for PlanCache {
    fn default() -> Self {
        Self { kept: Mutex::default(), turns: FairSemaphore::new(COMPUTED_MAX) }
    }
}

impl PlanCache {
    pub(super) fn put(&self, id: PlanId, plan: Arc<ExplainedPlan>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(known, _)| *known != id);
        kept.push_front((id, plan));
        kept.truncate(KEPT_MAX);
    }

    fn get(&self, id: PlanId) -> Option<Arc<ExplainedPlan>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().find(|(known, _)| *known == id).map(|(_, plan)| Arc::clone(plan))
    }

    pub fn n_waiting(&self) -> usize {
        self.turns.n_waiting()
    }

    /// Does long work where it holds up nobody else, and not too much of it at a time.
    pub async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> ServiceResult<T> {
        self.compute_for(NO_CLUSTER, work).await
    }

    /// The same for a cluster: those that want much wait for those that want little.
    pub async fn compute_for<T: Send + 'static>(
        &self,
        cluster: i64,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> ServiceResult<T> {
        let failed = |error| ServiceError::internal_from("the work on a plan broke off", error);
        let _turn = self.turns.acquire(cluster).await;
        tokio::task::spawn_blocking(work).await.map_err(failed)
    }
}

/// A plan with its record.
pub struct StoredPlan {
    pub record: PlanRecord,
    pub explained: Arc<ExplainedPlan>,
}

impl StoredPlan {
    /// Reads the plan that a record is about.
    pub async fn read(planning: &Planning, session: &mut Session, record: PlanRecord) -> ServiceResult<Self> {
        if let Some(explained) = planning.plans.get(record.id) {
            return Ok(Self { record, explained });
        }
        let bytes = session.plan_document(record.id).await?.ok_or_else(|| ServiceError::not_found("Plan"))?;
        let decoded = planning.plans.compute(move || decode(&bytes)).await?;
        let explained = Arc::new(decoded.map_err(|error| {
            let message = error.to_string();
            ServiceError::internal_from(message, format!("plan {} cannot be read", record.id))
        })?);
        planning.plans.put(record.id, Arc::clone(&explained));
        Ok(Self { record, explained })
    }
}
