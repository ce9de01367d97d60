//! Registry of background tasks. Long-running loops are registered by name, so that an operator can see when each of
//! them last ran and why it fails.

use std::error::Error;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use stoker_model::{ErrorChain, Micros};
use tokio::task::JoinSet;

use crate::clock::Clock;

/// The background tasks of one server. Cloning is cheap.
#[derive(Clone, Default)]
pub struct BackgroundTasks(Arc<Inner>);

#[derive(Default)]
struct Inner {
    clock: Clock,
    tasks: Mutex<JoinSet<()>>,
    monitors: Mutex<Vec<TaskMonitor>>,
}

/// Status of a registered loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskStatus {
    pub name: &'static str,
    /// Time between two passes; `None` for a loop that waits for events.
    pub period: Option<Duration>,
    /// Start of the latest pass.
    pub started_at: Option<Micros>,
    /// End of the latest pass that succeeded.
    pub succeeded_at: Option<Micros>,
    /// End and reason of the latest pass that failed.
    pub failure: Option<(Micros, String)>,
    pub n_failures: u64,
}

impl TaskStatus {
    /// Reports whether the latest finished pass failed.
    pub fn is_failing(&self) -> bool {
        self.failure.as_ref().is_some_and(|(at, _)| self.succeeded_at.is_none_or(|succeeded| succeeded < *at))
    }
}

/// Handle with which a loop reports its passes.
#[derive(Clone)]
pub struct TaskMonitor {
    clock: Clock,
    status: Arc<Mutex<TaskStatus>>,
}

impl BackgroundTasks {
    /// Runs a future until it is done or the server stops.
    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.0.tasks.lock();
        // Reap finished tasks here: nothing else joins them.
        while tasks.try_join_next().is_some() {}
        tasks.spawn(work);
    }

    /// Registers a loop and runs it until the server stops.
    pub fn run<W>(&self, name: &'static str, period: Option<Duration>, work: impl FnOnce(TaskMonitor) -> W)
    where
        W: Future<Output = ()> + Send + 'static,
    {
        let monitor = TaskMonitor::new(self.0.clock, name, period);
        self.0.monitors.lock().push(monitor.clone());
        self.spawn(work(monitor));
    }

    /// Returns all registered loops, in the order in which they were started.
    pub fn statuses(&self) -> Vec<TaskStatus> {
        let monitors = self.0.monitors.lock();
        monitors.iter().map(|monitor| monitor.lock().clone()).collect()
    }

    /// Aborts all background tasks.
    pub fn stop(&self) {
        self.0.tasks.lock().abort_all();
    }
}

impl TaskMonitor {
    fn new(clock: Clock, name: &'static str, period: Option<Duration>) -> Self {
        let status =
            TaskStatus { name, period, started_at: None, succeeded_at: None, failure: None, n_failures: 0 };
        Self { clock, status: Arc::new(Mutex::new(status)) }
    }

    /// Records the start of a pass.
    pub fn start(&self) {
        self.lock().started_at = Some(self.clock.now());
    }

    /// Records the end of a pass; a failure with its causes.
    pub fn finish<T, E: Error>(&self, result: &Result<T, E>) {
        match result {
            Ok(_) => self.succeed(),
            Err(error) => self.fail(ErrorChain(error).to_string()),
        }
    }

    pub fn succeed(&self) {
        self.lock().succeeded_at = Some(self.clock.now());
    }

    /// Records the failure of a pass. Takes text, so that an error cannot be passed without its causes.
    pub fn fail(&self, reason: impl Into<String>) {
        let mut status = self.lock();
        status.failure = Some((self.clock.now(), reason.into()));
        status.n_failures += 1;
    }

    fn lock(&self) -> MutexGuard<'_, TaskStatus> {
        self.status.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("the database is unavailable")]
    struct Outage(#[source] std::io::Error);

    #[tokio::test]
    async fn loop_status_follows_its_passes() {
        let tasks = BackgroundTasks::default();
        let (done, mut finished) = tokio::sync::oneshot::channel();
        tasks.run("fails, then succeeds", Some(Duration::from_secs(1)), |monitor| async move {
            monitor.start();
            monitor.finish(&Err::<(), _>(Outage(std::io::Error::other("no route"))));
            done.send(monitor).ok();
            std::future::pending::<()>().await;
        });
        let monitor = (&mut finished).await.unwrap();
        let [status] = &tasks.statuses()[..] else { panic!("one task is registered") };
        assert!(status.started_at.is_some() && status.succeeded_at.is_none());
        let reason = status.failure.as_ref().map(|(_, reason)| reason.as_str());
        assert_eq!(reason, Some("the database is unavailable: no route"));
        assert!(status.is_failing());
        assert_eq!(status.n_failures, 1);
        monitor.finish(&Ok::<(), Outage>(()));
        assert!(!tasks.statuses()[0].is_failing());
        assert!(tasks.statuses()[0].failure.is_some(), "the latest error stays visible");
    }
}
