//! Task output, written in batches: many agents send small pieces concurrently.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;
use stoker_model::{ErrorChain, OutputChunk, RunId};
use stoker_store::StoreError;
use tokio::sync::mpsc;

use stoker_services::background::TaskMonitor;

use crate::context::OrchestratorContext;

/// Capacity of the queue of unwritten pieces. Senders block while it is full.
const WAITING_MAX: usize = 4096;
const BATCH_MAX: usize = 1024;
/// Maximum output stored per run, counted by this process. Further output is dropped.
const RUN_BYTES_MAX: usize = 1 << 30;
/// Interval at which the counters of ended runs are evicted, in seconds.
const EVICTION_SECONDS: i64 = 60;
/// Delay between retries while the database is unavailable; after [`TRIES_MAX`] retries the batch is dropped.
const PAUSE: Duration = Duration::from_millis(500);
const TRIES_MAX: usize = 20;

pub(crate) struct OutputWriter {
    waiting: mpsc::Sender<(RunId, OutputChunk)>,
    /// Receiver of the queue, until the writer task takes it at startup.
    queue: Mutex<Option<mpsc::Receiver<(RunId, OutputChunk)>>>,
}

impl Default for OutputWriter {
    fn default() -> Self {
        let (waiting, queue) = mpsc::channel(WAITING_MAX);
        Self { waiting, queue: Mutex::new(Some(queue)) }
    }
}

impl OutputWriter {
    pub(crate) async fn put(&self, run: RunId, piece: OutputChunk) {
        // Fails only while the server stops, after the writer has ended.
        let _ = self.waiting.send((run, piece)).await;
    }

    /// Writes output until the queue is closed. Only the first call writes; later calls return immediately.
    pub(crate) async fn write(&self, context: &OrchestratorContext, monitor: &TaskMonitor) {
        let queue = self.queue.lock().take();
        let Some(mut queue) = queue else { return };
        let mut quota = OutputQuota::default();
        let mut evicted_at = context.clock.now();
        let mut batch = Vec::new();
        while queue.recv_many(&mut batch, BATCH_MAX).await > 0 {
            let mut by_run: HashMap<RunId, Vec<OutputChunk>> = HashMap::new();
            for (run, piece) in batch.drain(..) {
                if quota.admit(run, piece.text.len()) {
                    by_run.entry(run).or_default().push(piece);
                }
            }
            monitor.start();
            for (run, pieces) in by_run {
                monitor.finish(&keep(context, run, &pieces).await);
            }
            let now = context.clock.now();
            if now >= evicted_at.plus_seconds(EVICTION_SECONDS) {
                quota.evict_ended(context).await;
                evicted_at = now;
            }
        }
    }
}

/// Number of bytes of output received, for each run that has not ended.
#[derive(Default)]
struct OutputQuota(HashMap<RunId, usize>);

impl OutputQuota {
    /// Counts output of a run. Returns whether it is to be stored.
    fn admit(&mut self, run: RunId, n_bytes: usize) -> bool {
        let n_received = self.0.entry(run).or_default();
        *n_received = n_received.saturating_add(n_bytes);
        *n_received <= RUN_BYTES_MAX
    }

    /// Evicts the counters of ended and deleted runs. Queries the database, because the driver of a run and
    /// the host of its agents may be different servers.
    async fn evict_ended(&mut self, context: &OrchestratorContext) {
        let runs: Vec<RunId> = self.0.keys().copied().collect();
        for run in runs {
            if context.has_ended(run).await {
                self.0.remove(&run);
            }
        }
    }
}

async fn keep(context: &OrchestratorContext, run: RunId, pieces: &[OutputChunk]) -> Result<(), StoreError> {
    let mut n_tries = 0;
    loop {
        match context.store.output_put(run, pieces, context.clock.now()).await {
            Err(StoreError::Unavailable(_)) if n_tries < TRIES_MAX => {
                n_tries += 1;
                tokio::time::sleep(PAUSE).await;
            }
            Err(error @ StoreError::Unavailable(_)) => {
                tracing::warn!(run.id = run.0, "dropped task output: the database is unavailable");
                return Err(error);
            }
            Err(error) => {
                // The run may have been deleted.
                tracing::debug!(error = %ErrorChain(&error), run.id = run.0, "cannot store task output");
                return Ok(());
            }
            Ok(()) => return Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use stoker_model::RunStatus;
    use stoker_testkit::TempFolder;

    use super::*;
    use crate::test_support::{create_run, orchestrator};

    #[test]
    fn output_beyond_the_quota_of_a_run_is_dropped() {
        let mut quota = OutputQuota::default();
        assert!(quota.admit(RunId(1), RUN_BYTES_MAX));
        assert!(!quota.admit(RunId(1), 1));
        assert!(!quota.admit(RunId(1), usize::MAX));
        assert!(quota.admit(RunId(2), 1), "another run has its own quota");
    }

    #[tokio::test]
    async fn counters_of_ended_and_deleted_runs_are_evicted() {
        let folder = TempFolder::new();
        let orchestrator = orchestrator(&folder).await;
        let mut quota = OutputQuota::default();
        let running = create_run(&orchestrator, RunStatus::Running).await;
        let ended = create_run(&orchestrator, RunStatus::Ready).await;
        let failed = create_run(&orchestrator, RunStatus::Error).await;
        for run in [running, ended, failed, RunId(999)] {
            quota.admit(run, 7);
        }
        quota.evict_ended(&orchestrator.context).await;
        assert_eq!(quota.0, HashMap::from([(running, 7)]));
    }
}
