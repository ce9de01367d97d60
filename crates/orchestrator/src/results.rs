//! Delivers results to the driver of their run. All sources of results share this path.
//!
//! ```text
//! WebSocket, local agent, NATS session ─▶ routing ────┐
//! result stored by NATS ───────────────▶ nats_inbox ──┼─▶ deliver ─▶ driver here, which commits it and acknowledges
//! result of an agent of another server ▶ peer_inbox ──┘      └────▶ server of the driver (one hop)
//! ```
//!
//! Delivery is at least once: the source retains a result until it is acknowledged, and the driver
//! deduplicates by attempt.

use std::time::Duration;

use stoker_engine::session::AttemptResult;
use stoker_model::{AgentUid, ErrorChain};
use tokio::sync::oneshot;

use crate::agents::{Command, RunResponse};
use crate::late_results::record_late_result;
use crate::orchestrator::Orchestrator;

/// Timeout for the commit of a result. Longer than a busy driver should take to process its queue.
const RECEIPT_TIME_MAX: Duration = Duration::from_secs(15);

/// Remaining hops of a result between servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hops {
    Allowed,
    /// The result was already forwarded once. A second hop could create a loop.
    Exhausted,
}

/// Outcome of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// The driver has queued the result and acknowledges it after the commit.
    Queued,
    /// Sent to the server of the driver.
    Forwarded,
    /// The run has ended and does not need the result.
    RunEnded,
    /// The attempt belongs to another agent.
    Refused,
    /// No live server drives the run at the moment.
    NoDriver,
}

/// Delivers a result from the authenticated agent `uid`. Results for attempts of other agents are refused: a
/// compromised node must not report on behalf of others. `receipt` is resolved when the result is committed.
pub(crate) async fn deliver(
    orchestrator: &Orchestrator,
    uid: &AgentUid,
    finished: AttemptResult,
    hops: Hops,
    receipt: Option<oneshot::Sender<RunResponse>>,
) -> Delivery {
    let key = finished.key;
    if orchestrator.agents.is_executor(uid, key) == Some(false) {
        tracing::warn!(
            agent.uid = uid.as_str(),
            run.id = key.run.0,
            "refused the result of another agent's attempt"
        );
        return Delivery::Refused;
    }
    let (mut finished, mut receipt) = (finished, receipt);
    if let Some(inbox) = orchestrator.agents.run(key.run) {
        match inbox.send(Command::Finished { uid: uid.clone(), finished, receipt }).await {
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
    if !orchestrator.context.has_ended(key.run).await {
        return Delivery::NoDriver;
    }
    match record_late_result(orchestrator, uid, &finished).await {
        Ok(()) => Delivery::RunEnded,
        Err(error) => {
            tracing::warn!(run.id = key.run.0, error = %ErrorChain(&error), "cannot record a late result; retrying");
            Delivery::NoDriver
        }
    }
}

/// Whether the source of a stored result may delete it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Receipt {
    /// Committed, or no longer needed by its run.
    Committed,
    /// The attempt belongs to another agent.
    Refused,
    /// No driver has acknowledged the result; it must be redelivered.
    Pending,
}

/// Like [`deliver`], but waits until the result is committed, at most [`RECEIPT_TIME_MAX`].
pub(crate) async fn deliver_and_wait(
    orchestrator: &Orchestrator,
    uid: &AgentUid,
    finished: AttemptResult,
    hops: Hops,
) -> Receipt {
    let run = finished.key.run;
    let (sender, answered) = oneshot::channel();
    let delivering = async {
        match deliver(orchestrator, uid, finished, hops, Some(sender)).await {
            Delivery::Queued | Delivery::Forwarded => match answered.await {
                Ok(RunResponse::Done) => Receipt::Committed,
                Ok(RunResponse::NotExecutor) => Receipt::Refused,
                // The run ended, or its lease was lost.
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
            Receipt::Refused => Self::NotExecutor,
            Receipt::Pending => Self::NoDriver,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use stoker_engine::blueprint::{
        Blueprint, Draft, DraftInstance, DraftWork, ExecutionOptions, Handlers, Policy,
    };
    use stoker_engine::session::{AttemptKey, ResultKind};
    use stoker_graph::Csr;
    use stoker_model::{InstanceIdx, Micros, NodeIdx, RunId, RunStatus, TaskIdx, TaskReport};
    use stoker_testkit::TempFolder;
    use tokio::sync::mpsc;

    use super::*;
    use crate::test_support::{create_run, orchestrator};

    /// Returns a run with one task on node 7.
    fn blueprint() -> Blueprint {
        let policy = Policy {
            timeout_ms: 1000,
            n_retries: 0,
            interval_ms: 1000,
            fail_on_error: true,
            retry_interrupted: false,
        };
        let work = Some(DraftWork { executor: NodeIdx::new(0), policy, limit: None });
        Blueprint::new(Draft {
            nodes: vec!["7".to_owned()],
            sync: None,
            tasks: vec!["task".to_owned()],
            instances: vec![DraftInstance { task: TaskIdx::new(0), node: NodeIdx::new(0), work }],
            order: Csr::new(1, Vec::new()),
            groups: Vec::new(),
            handlers: Handlers::default(),
            durations: Vec::new(),
            options: ExecutionOptions::default(),
        })
        .unwrap()
    }

    fn result_of(run: RunId) -> AttemptResult {
        let key = AttemptKey { run, instance: InstanceIdx::new(0), attempt: 1 };
        AttemptResult { key, at: Micros(1), end: ResultKind::Succeeded, report: TaskReport::default() }
    }

    #[tokio::test]
    async fn result_is_delivered_only_to_the_driver_of_its_run() {
        let folder = TempFolder::new();
        let orchestrator = orchestrator(&folder).await;
        let run = create_run(&orchestrator, RunStatus::Running).await;
        let hops = Hops::Allowed;
        assert_eq!(deliver(&orchestrator, &"7".into(), result_of(run), hops, None).await, Delivery::NoDriver);
        let (inbox, mut commands) = mpsc::channel(8);
        orchestrator.agents.add_run(run, Arc::new(blueprint()), inbox);
        assert_eq!(deliver(&orchestrator, &"8".into(), result_of(run), hops, None).await, Delivery::Refused);
        assert!(commands.try_recv().is_err(), "the result of another agent's attempt is refused");
        assert_eq!(deliver(&orchestrator, &"7".into(), result_of(run), hops, None).await, Delivery::Queued);
        let Some(Command::Finished { uid, finished, receipt: None }) = commands.recv().await else {
            panic!("a result without a receipt")
        };
        assert_eq!((uid.as_str(), finished), ("7", result_of(run)));
        drop(commands);
        assert_eq!(deliver(&orchestrator, &"7".into(), result_of(run), hops, None).await, Delivery::NoDriver);
    }

    #[tokio::test]
    async fn stored_result_is_pending_until_it_is_committed() {
        let folder = TempFolder::new();
        let orchestrator = orchestrator(&folder).await;
        let run = create_run(&orchestrator, RunStatus::Running).await;
        let hops = Hops::Allowed;
        assert_eq!(
            deliver_and_wait(&orchestrator, &"7".into(), result_of(run), hops).await,
            Receipt::Pending
        );
        let (inbox, mut commands) = mpsc::channel(8);
        orchestrator.agents.add_run(run, Arc::new(blueprint()), inbox);
        assert_eq!(
            deliver_and_wait(&orchestrator, &"8".into(), result_of(run), hops).await,
            Receipt::Refused
        );
        let driver = tokio::spawn(async move {
            for response in [Some(RunResponse::Done), None] {
                let Some(Command::Finished { receipt: Some(receipt), .. }) = commands.recv().await else {
                    panic!("a result with a receipt")
                };
                // A driver that loses its lease drops uncommitted results with their receipts.
                response.map(|response| receipt.send(response));
            }
        });
        assert_eq!(
            deliver_and_wait(&orchestrator, &"7".into(), result_of(run), hops).await,
            Receipt::Committed
        );
        assert_eq!(
            deliver_and_wait(&orchestrator, &"7".into(), result_of(run), hops).await,
            Receipt::Pending
        );
        driver.await.unwrap();
    }

    #[tokio::test]
    async fn result_of_an_ended_run_is_discarded() {
        let folder = TempFolder::new();
        let orchestrator = orchestrator(&folder).await;
        for run in [create_run(&orchestrator, RunStatus::Ready).await, RunId(999)] {
            let delivered = deliver(&orchestrator, &"7".into(), result_of(run), Hops::Exhausted, None).await;
            assert_eq!(delivered, Delivery::RunEnded);
            let receipt = deliver_and_wait(&orchestrator, &"7".into(), result_of(run), Hops::Exhausted).await;
            assert_eq!(receipt, Receipt::Committed);
        }
    }
}
