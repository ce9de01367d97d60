//! Runs that are in this server's hands. All of them are kept there with one statement, however many there are.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use stoker_model::{Micros, RunId};
use stoker_store::StoreError;
use tokio::sync::watch;

use crate::state::App;

#[derive(Default)]
pub(crate) struct Leases {
    held: Mutex<HashMap<RunId, Held>>,
}

struct Held {
    generation: i64,
    is_lost: watch::Sender<bool>,
}

/// A run that was taken. It is no longer kept when this is dropped.
pub(super) struct Lease {
    app: App,
    run: RunId,
    pub(super) generation: i64,
    is_lost: watch::Receiver<bool>,
}

impl Leases {
    /// Whether somebody else has the run by now, as far as is known.
    pub(super) fn is_lost(&self, run: RunId, generation: i64) -> bool {
        self.lock().get(&run).is_none_or(|held| held.generation != generation || *held.is_lost.borrow())
    }

    fn add(&self, run: RunId, generation: i64) -> watch::Receiver<bool> {
        let (sender, receiver) = watch::channel(false);
        if let Some(former) = self.lock().insert(run, Held { generation, is_lost: sender }) {
            former.is_lost.send_replace(true);
        }
        receiver
    }

    fn remove(&self, run: RunId, generation: i64) {
        let mut held = self.lock();
        if held.get(&run).is_some_and(|held| held.generation == generation) {
            held.remove(&run);
        }
    }

    fn all(&self) -> Vec<(RunId, i64)> {
        let held = self.lock();
        let ours = held.iter().filter(|(_, held)| !*held.is_lost.borrow());
        ours.map(|(run, held)| (*run, held.generation)).collect()
    }

    /// These were asked for and not given.
    fn lose(&self, runs: impl Iterator<Item = (RunId, i64)>) {
        let held = self.lock();
        for (run, generation) in runs {
            if let Some(lost) = held.get(&run).filter(|held| held.generation == generation) {
                lost.is_lost.send_replace(true);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lease {
    /// Takes a run, unless somebody else has it.
    pub(super) async fn take(app: &App, run: RunId) -> Result<Option<Self>, StoreError> {
        let now = app.clock.now();
        let taken = app.store.run_take(run, &app.owner, now, app.leased_until(now)).await?;
        Ok(taken.map(|generation| {
            let is_lost = app.leases.add(run, generation);
            Self { app: app.clone(), run, generation, is_lost }
        }))
    }

    /// Until somebody else has the run.
    pub(super) async fn lost(&self) {
        // The other end is there for as long as this is, or another has taken its place.
        _ = self.is_lost.clone().wait_for(|is_lost| *is_lost).await;
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.app.leases.remove(self.run, self.generation);
    }
}

/// Says again and again that this server is still there. Never ends by itself.
pub(super) async fn keep(app: &App) {
    loop {
        tokio::time::sleep(app.lease_renewal()).await;
        let now = app.clock.now();
        if let Err(error) = keep_until(app, now, app.leased_until(now)).await {
            tracing::warn!(error = %error, "the leases of runs were not renewed");
        }
    }
}

async fn keep_until(app: &App, now: Micros, until: Micros) -> Result<(), StoreError> {
    let asked = app.leases.all();
    if asked.is_empty() {
        return Ok(());
    }
    let kept = app.store.runs_hold(&asked, now, until).await?;
    app.leases.lose(asked.into_iter().filter(|(run, _)| !kept.contains(run)));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: RunId = RunId(7);

    #[test]
    fn what_is_lost_is_known_and_asked_for_no_more() {
        let leases = Leases::default();
        let told = leases.add(RUN, 1);
        assert_eq!(leases.all(), [(RUN, 1)]);
        // About an earlier hold: of no concern.
        leases.lose([(RUN, 0), (RunId(8), 1)].into_iter());
        assert!(!leases.is_lost(RUN, 1) && !*told.borrow());
        leases.lose([(RUN, 1)].into_iter());
        assert!(leases.is_lost(RUN, 1) && *told.borrow());
        assert_eq!(leases.all(), []);
    }

    #[test]
    fn a_later_hold_takes_the_place_of_an_earlier_one() {
        let leases = Leases::default();
        let told = leases.add(RUN, 1);
        leases.add(RUN, 2);
        assert!(*told.borrow() && leases.is_lost(RUN, 1) && !leases.is_lost(RUN, 2));
        leases.remove(RUN, 1);
        assert_eq!(leases.all(), [(RUN, 2)], "the earlier one goes alone");
        leases.remove(RUN, 2);
        assert!(leases.is_lost(RUN, 2), "nobody keeps it");
    }
}
