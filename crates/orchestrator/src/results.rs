//! The one route of a result: from whoever brings it to the driver of its run.
//!
//! ```text
//! WebSocket, local agent, NATS session ─▶ routing ────┐
//! result stored by NATS ───────────────▶ nats_inbox ──┼─▶ deliver ─▶ driver here, which commits it and acknowledges
//! result of an agent of another server ▶ peer_inbox ──┘      └────▶ server of the driver (one hop)
//! ```
//!
//! Delivery is at least once: whoever brings a result keeps it until it is acknowledged, and the driver deduplicates by
//! attempt.

use std::time::Duration;

use stoker_engine::session::Finished;
use tokio::sync::oneshot;

use crate::agents::{Command, RunResponse};
use crate::orchestrator::Orchestrator;

/// Longer than a busy driver should take to commit what came before.
const RECEIPT_TIME_MAX: Duration = Duration::from_secs(15);

/// Whether a result may be forwarded to another server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hops {
    Allowed,
    /// It was forwarded before. A second hop could go in circles.
    Exhausted,
}

/// What became of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// The driver of the run has it and acknowledges it once it is committed.
    Queued,
    /// It is on its way to the server of the driver.
    Forwarded,
    /// The run has ended and does not need it.
    RunEnded,
    /// The attempt is not this agent's.
    Refused,
    /// No server carries the run out at the moment.
    NoDriver,
}

/// Delivers a result of the agent that proved to be `uid`. An agent is believed about its own attempts only: a compromised
/// node must not speak for others. `receipt` is answered when the result is committed.
pub(crate) async fn deliver(
    orchestrator: &Orchestrator,
    uid: &str,
    finished: Finished,
    hops: Hops,
    receipt: Option<oneshot::Sender<RunResponse>>,
) -> Delivery {
    let key = finished.key;
    if orchestrator.agents.is_executor(uid, key) == Some(false) {
        tracing::warn!(agent.uid = uid, run.id = key.run.0, "refused the result of another agent's attempt");
        return Delivery::Refused;
    }
    let (mut finished, mut receipt) = (finished, receipt);
    if let Some(inbox) = orchestrator.agents.run(key.run) {
        match inbox.send(Command::Finished { uid: uid.to_owned(), finished, receipt }).await {
            Ok(()) => return Delivery::Queued,
            // The driver has just ended.
            Err(unsent) => match unsent.0 {
                Command::Finished { finished: result, receipt: sender, .. } => {
                    (finished, receipt) = (result, sender);
                }
                _ => return Delivery::NoDriver,
            },
        }
    }
    if hops == Hops::Allowed
        && let Some(server) = orchestrator.peers.driver_of(key.run).await
    {
        orchestrator.peers.forward_result(&server, uid, finished, receipt);
        return Delivery::Forwarded;
    }
    if orchestrator.context.has_ended(key.run).await { Delivery::RunEnded } else { Delivery::NoDriver }
}

/// Whether whoever stored a result may forget it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Receipt {
    /// It is committed, or its run does not need it.
    Committed,
    /// The attempt is not this agent's.
    Refused,
    /// To be delivered again: no driver has answered.
    Pending,
}

/// The same, and waits until the result is committed.
pub(crate) async fn deliver_and_wait(
    orchestrator: &Orchestrator,
    uid: &str,
    finished: Finished,
    hops: Hops,
) -> Receipt {
    let run = finished.key.run;
    let (sender, answered) = oneshot::channel();
    let delivering = async {
        match deliver(orchestrator, uid, finished, hops, Some(sender)).await {
            Delivery::Queued | Delivery::Forwarded => match answered.await {
                Ok(RunResponse::Done) => Receipt::Committed,
                Ok(RunResponse::NotItsOwn) => Receipt::Refused,
                // The run ended or changed hands meanwhile.
                Ok(_) | Err(_) => {
                    orchestrator.peers.forget_driver(run);
                    Receipt::Pending
                }
            },
            Delivery::RunEnded => Receipt::Committed,
            Delivery::Refused => Receipt::Refused,
            Delivery::NoDriver => Receipt::Pending,
        }
    };
    tokio::time::timeout(RECEIPT_TIME_MAX, delivering).await.unwrap_or(Receipt::Pending)
}

impl From<Receipt> for RunResponse {
    fn from(receipt: Receipt) -> Self {
        match receipt {
            Receipt::Committed => Self::Done,
            Receipt::Refused => Self::NotItsOwn,
            Receipt::Pending => Self::Nobody,
        }
    }
}
