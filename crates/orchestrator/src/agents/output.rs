//! Task output, written in batches: many agents send small pieces concurrently.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use stoker_model::{OutputChunk, RunId};
use stoker_store::StoreError;
use tokio::sync::mpsc;

use stoker_services::background::TaskMonitor;

use crate::context::OrchestratorContext;

/// Capacity of the queue of unwritten pieces. Senders block while it is full.
const WAITING_MAX: usize = 4096;
const BATCH_MAX: usize = 1024;
/// Maximum output stored per run, counted by this process. Further output is dropped.
const RUN_BYTES_MAX: usize = 1 << 30;
/// Delay between retries while the database is unavailable; after [`TRIES_MAX`] retries the batch is dropped.
const PAUSE: Duration = Duration::from_millis(500);
const TRIES_MAX: usize = 20;

pub(crate) struct OutputWriter {
    waiting: mpsc::Sender<(RunId, OutputChunk)>,
    /// Taken by the writer task.
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
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut queue) = queue else { return };
        let mut n_bytes: HashMap<RunId, usize> = HashMap::new();
        let mut batch = Vec::new();
        while queue.recv_many(&mut batch, BATCH_MAX).await > 0 {
            let mut by_run: HashMap<RunId, Vec<OutputChunk>> = HashMap::new();
            for (run, piece) in batch.drain(..) {
                let kept = n_bytes.entry(run).or_default();
                *kept += piece.text.len();
                if *kept <= RUN_BYTES_MAX {
                    by_run.entry(run).or_default().push(piece);
                }
            }
            monitor.start();
            for (run, pieces) in by_run {
                monitor.finish(&keep(context, run, &pieces).await);
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
                tracing::warn!(run.id = run.0, "lost output of a run: the database does not answer");
                return Err(error);
            }
            Err(error) => {
                // The run may have been deleted.
                tracing::debug!(error = %error, run.id = run.0, "output of a run was not stored");
                return Ok(());
            }
            Ok(()) => return Ok(()),
        }
    }
}
