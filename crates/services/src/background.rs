//! Registry of background tasks. Long-running loops are registered by name, so that an operator can see when each of
//! them last ran, why it fails, and whether it ended or hangs.

use std::error::Error;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
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

/// Number of periods without a new pass after which a periodic loop is overdue, and a margin for passes that take longer
/// than their period: a large garbage collection, or a write that waits for the database until its timeout.
const OVERDUE_PERIODS: u32 = 3;
const OVERDUE_MARGIN: Duration = Duration::from_mins(1);

/// Status of a registered loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskStatus {
    pub name: &'static str,
    /// Time between two passes; `None` for a loop that waits for events.
    pub period: Option<Duration>,
    pub registered_at: Micros,
    /// Start of the latest pass.
    pub started_at: Option<Micros>,
    /// End of the latest pass that succeeded.
    pub succeeded_at: Option<Micros>,
    /// End and reason of the latest pass that failed.
    pub failure: Option<(Micros, String)>,
    pub n_failures: u64,
    /// Whether the loop returned or panicked. A loop runs until the server stops, so this is a bug or a fatal error; only a
    /// restart of the server helps.
    pub has_ended: bool,
}

impl TaskStatus {
    /// Reports whether a periodic loop has not begun a pass for several periods: its latest pass hangs.
    pub fn is_overdue(&self, now: Micros) -> bool {
        let Some(period) = self.period.filter(|_| !self.has_ended) else { return false };
        let allowed = period * OVERDUE_PERIODS + OVERDUE_MARGIN;
        let elapsed = now.0.saturating_sub(self.started_at.unwrap_or(self.registered_at).0);
        u128::try_from(elapsed).is_ok_and(|elapsed| elapsed > allowed.as_micros())
    }

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

    /// Registers a loop and runs it until the server stops. A loop that returns or panics is recorded as ended.
    pub fn run<W>(&self, name: &'static str, period: Option<Duration>, work: impl FnOnce(TaskMonitor) -> W)
    where
        W: Future<Output = ()> + Send + 'static,
    {
        let monitor = TaskMonitor::new(self.0.clock, name, period);
        self.0.monitors.lock().push(monitor.clone());
        let work = work(monitor.clone());
        self.spawn(async move {
            let outcome = AssertUnwindSafe(work).catch_unwind().await;
            let reason = if outcome.is_ok() { "the task returned" } else { "the task panicked" };
            tracing::error!(task = name, reason, "a background task ended; restart the server");
            monitor.end(reason);
        });
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
        let status = TaskStatus {
            name,
            period,
            registered_at: clock.now(),
            started_at: None,
            succeeded_at: None,
            failure: None,
            n_failures: 0,
            has_ended: false,
        };
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

    /// Records the end of the loop. The reason of a failed last pass says more than `reason`.
    fn end(&self, reason: &str) {
        let is_failing = self.lock().is_failing();
        if !is_failing {
            self.fail(reason);
        }
        self.lock().has_ended = true;
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
    async fn ended(tasks: &BackgroundTasks, name: &str) -> TaskStatus {
        loop {
            let status = tasks.statuses().into_iter().find(|status| status.name == name).unwrap();
            if status.has_ended {
                return status;
            }
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_loop_that_panics_or_returns_has_ended_and_fails() {
        let tasks = BackgroundTasks::default();
        tasks.run("panics", None, |monitor| async move {
            monitor.start();
            monitor.succeed();
            panic!("a bug");
        });
        tasks.run("returns", None, |_| async {});
        tasks.run("fails and returns", None, |monitor| async move { monitor.fail("no certificates") });
        for (name, reason) in [
            ("panics", "the task panicked"),
            ("returns", "the task returned"),
            ("fails and returns", "no certificates"),
        ] {
            let status = ended(&tasks, name).await;
            assert!(status.is_failing(), "{status:?}");
            assert_eq!((status.failure.unwrap().1.as_str(), status.n_failures), (reason, 1));
        }
    }

    #[test]
    fn a_loop_without_a_pass_for_several_periods_is_overdue() {
        let second = |seconds: i64| Micros(seconds * Micros::SECOND);
        let mut status = TaskMonitor::new(Clock, "loop", Some(Duration::from_secs(10))).lock().clone();
        status.registered_at = second(0);
        assert!(!status.is_overdue(second(90)));
        assert!(status.is_overdue(second(91)), "the first pass never began");
        status.started_at = Some(second(100));
        assert!(!status.is_overdue(second(190)));
        assert!(status.is_overdue(second(191)), "the pass hangs");
        assert!(!TaskStatus { has_ended: true, ..status.clone() }.is_overdue(second(999)));
        assert!(!TaskStatus { period: None, ..status }.is_overdue(second(999)), "it waits for events");
    }
}
