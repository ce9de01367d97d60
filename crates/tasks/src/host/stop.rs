//! Stop signal of an attempt.

use std::fmt;

use tokio::sync::watch;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    TimedOut,
    Cancelled,
    /// The agent is shutting down.
    AgentShutdown,
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TimedOut => "timed out",
            Self::Cancelled => "cancelled",
            Self::AgentShutdown => "the agent is shutting down",
        })
    }
}

/// Sender side of the stop signal. The first reason wins.
#[derive(Clone, Debug)]
pub struct StopSender(watch::Sender<Option<StopReason>>);

/// Receiver side of the stop signal.
#[derive(Clone, Debug)]
pub struct StopSignal(watch::Receiver<Option<StopReason>>);

impl StopSender {
    pub fn new() -> (Self, StopSignal) {
        let (sender, receiver) = watch::channel(None);
        (Self(sender), StopSignal(receiver))
    }

    pub fn stop(&self, reason: StopReason) {
        self.0.send_if_modified(|current| current.is_none().then(|| *current = Some(reason)).is_some());
    }
}

impl StopSignal {
    pub fn reason(&self) -> Option<StopReason> {
        *self.0.borrow()
    }

    /// Waits for the stop. Never returns if all senders are dropped without sending one.
    pub async fn wait(&self) -> StopReason {
        let mut receiver = self.0.clone();
        let reason = receiver.wait_for(Option::is_some).await.ok().and_then(|reason| *reason);
        match reason {
            Some(reason) => reason,
            None => std::future::pending().await,
        }
    }
}
