//! Leases of the runs that this server drives. A single statement renews all of them.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use stoker_model::{ErrorChain, Micros, RunId};
use stoker_services::background::TaskMonitor;
use stoker_store::StoreError;
use tokio::sync::watch;

use crate::context::OrchestratorContext;

/// Cloning is cheap.
#[derive(Clone)]
pub(crate) struct Leases {
    context: OrchestratorContext,
    table: Arc<LeaseTable>,
}

#[derive(Default)]
struct LeaseTable(Mutex<HashMap<RunId, HeldLease>>);

struct HeldLease {
    generation: i64,
    is_lost: watch::Sender<bool>,
}

/// Lease of one run. Dropping the value stops the renewal.
pub(crate) struct Lease {
    leases: Leases,
    run: RunId,
    /// Fencing token: the store rejects writes with an older generation.
    pub(crate) generation: i64,
    is_lost: watch::Receiver<bool>,
}

impl Leases {
    pub(crate) fn new(context: OrchestratorContext) -> Self {
        Self { context, table: Arc::default() }
    }

    /// Acquires the lease of a run; `None` if another server holds it.
    pub(crate) async fn take(&self, run: RunId) -> Result<Option<Lease>, StoreError> {
        let OrchestratorContext { store, clock, owner, .. } = &self.context;
        let now = clock.now();
        let acquired = store.run_lease_acquire(run, owner, now, self.context.leased_until(now)).await?;
        Ok(acquired.map(|generation| {
            let is_lost = self.table.add(run, generation);
            Lease { leases: self.clone(), run, generation, is_lost }
        }))
    }

    /// Reports whether the lease of this generation is known to be lost or was dropped.
    pub(crate) fn is_lost(&self, run: RunId, generation: i64) -> bool {
        self.table.is_lost(run, generation)
    }

    /// Renews all leases periodically. Never returns.
    pub(crate) async fn renew_all(&self, monitor: &TaskMonitor) {
        loop {
            tokio::time::sleep(self.context.lease_renewal()).await;
            monitor.start();
            let now = self.context.clock.now();
            let renewed = self.renew(now, self.context.leased_until(now)).await;
            if let Err(error) = &renewed {
                tracing::warn!(error = %ErrorChain(error), "cannot renew run leases");
            }
            monitor.finish(&renewed);
        }
    }

    async fn renew(&self, now: Micros, until: Micros) -> Result<(), StoreError> {
        let renewed = self.table.active();
        if renewed.is_empty() {
            return Ok(());
        }
        let still_ours = self.context.store.run_leases_renew(&renewed, now, until).await?;
        self.table.lose(renewed.into_iter().filter(|(run, _)| !still_ours.contains(run)));
        Ok(())
    }
}

impl LeaseTable {
    fn is_lost(&self, run: RunId, generation: i64) -> bool {
        self.0.lock().get(&run).is_none_or(|lease| lease.generation != generation || *lease.is_lost.borrow())
    }

    fn add(&self, run: RunId, generation: i64) -> watch::Receiver<bool> {
        let (sender, receiver) = watch::channel(false);
        if let Some(former) = self.0.lock().insert(run, HeldLease { generation, is_lost: sender }) {
            former.is_lost.send_replace(true);
        }
        receiver
    }

    fn remove(&self, run: RunId, generation: i64) {
        let mut leases = self.0.lock();
        if leases.get(&run).is_some_and(|lease| lease.generation == generation) {
            leases.remove(&run);
        }
    }

    fn active(&self) -> Vec<(RunId, i64)> {
        let leases = self.0.lock();
        let ours = leases.iter().filter(|(_, lease)| !*lease.is_lost.borrow());
        ours.map(|(run, lease)| (*run, lease.generation)).collect()
    }

    /// Marks leases whose renewal was rejected as lost.
    fn lose(&self, runs: impl Iterator<Item = (RunId, i64)>) {
        let leases = self.0.lock();
        for (run, generation) in runs {
            if let Some(lost) = leases.get(&run).filter(|lease| lease.generation == generation) {
                lost.is_lost.send_replace(true);
            }
        }
    }
}

impl Lease {
    /// Waits until the lease is lost.
    pub(crate) async fn wait_lost(&self) {
        // The sender is dropped with the lease, or replaced by the sender of a newer lease.
        _ = self.is_lost.clone().wait_for(|is_lost| *is_lost).await;
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.leases.table.remove(self.run, self.generation);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: RunId = RunId(7);

    #[test]
    fn lost_lease_is_reported_and_not_renewed() {
        let leases = LeaseTable::default();
        let lost = leases.add(RUN, 1);
        assert_eq!(leases.active(), [(RUN, 1)]);
        // Losses of an earlier generation, or of an unknown run, are ignored.
        leases.lose([(RUN, 0), (RunId(8), 1)].into_iter());
        assert!(!leases.is_lost(RUN, 1) && !*lost.borrow());
        leases.lose([(RUN, 1)].into_iter());
        assert!(leases.is_lost(RUN, 1) && *lost.borrow());
        assert_eq!(leases.active(), []);
    }

    #[test]
    fn newer_lease_replaces_an_older_one() {
        let leases = LeaseTable::default();
        let lost = leases.add(RUN, 1);
        leases.add(RUN, 2);
        assert!(*lost.borrow() && leases.is_lost(RUN, 1) && !leases.is_lost(RUN, 2));
        leases.remove(RUN, 1);
        assert_eq!(leases.active(), [(RUN, 2)], "only the earlier lease is dropped");
        leases.remove(RUN, 2);
        assert!(leases.is_lost(RUN, 2), "the lease is released");
    }
}
