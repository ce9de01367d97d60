//! How an attempt learns that it is to end.

use std::fmt;

use tokio::sync::watch;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    TimedOut,
    Cancelled,
    /// The agent itself ends.
    AgentEnds,
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TimedOut => "it took longer than its timeout",
            Self::Cancelled => "it was cancelled",
            Self::AgentEnds => "the agent was asked to end",
        })
    }
}

/// Held by whoever may stop an attempt. The first reason counts.
#[derive(Clone, Debug)]
pub struct Stopper(watch::Sender<Option<StopReason>>);

/// Held by what is to be stopped.
#[derive(Clone, Debug)]
pub struct Stop(watch::Receiver<Option<StopReason>>);

impl Stopper {
    pub fn new() -> (Self, Stop) {
        let (sender, receiver) = watch::channel(None);
        (Self(sender), Stop(receiver))
    }

    pub fn stop(&self, reason: StopReason) {
        self.0.send_if_modified(|now| now.is_none().then(|| *now = Some(reason)).is_some());
    }
}

impl Stop {
    pub fn now(&self) -> Option<StopReason> {
        *self.0.borrow()
    }

    /// Returns when it is stopped; never, when nobody is left who could.
    pub async fn wait(&self) -> StopReason {
        let mut receiver = self.0.clone();
        let reason = receiver.wait_for(Option::is_some).await.ok().and_then(|reason| *reason);
        match reason {
            Some(reason) => reason,
            None => std::future::pending().await,
        }
    }
}
