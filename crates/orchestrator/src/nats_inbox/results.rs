//! Consumes results that NATS stores durably, so that results of agents that never reconnect are not lost.
//!
//! All servers share one consumer. A result takes the same path as a result from a session and is
//! acknowledged after it is committed. Most results are duplicates: the session delivered them earlier.

use std::sync::Arc;
use std::time::Duration;

use stoker_bus::{Bus, BusError, Delivery, StreamSettings, SubjectError, SubjectPattern};
use stoker_engine::session::{AttemptResult, FromAgent};
use stoker_model::{AgentUid, ErrorChain};
use stoker_services::background::TaskMonitor;
use stoker_wire::nats::{RESULT_SUBJECTS, RESULTS_STREAM, SERVER_QUEUE_GROUP};
use stoker_wire::{Decoded, decode_from_agent};
use tokio::sync::Semaphore;

use super::{LISTEN_RETRY_INTERVAL, NatsReject, authenticate};
use crate::nats::NatsUsers;
use crate::orchestrator::Orchestrator;
use crate::results::{Hops, Receipt, deliver_and_wait};

/// Maximum size of the stream: half of the account's quota.
const BYTES_MAX: u64 = 512 << 20;
/// Retention of results. No run waits longer for a result.
const AGE_MAX: Duration = Duration::from_hours(7 * 24);
/// Deduplication window. An agent that gets no acknowledgement from NATS publishes the result again within
/// seconds.
const DEDUP_WINDOW: Duration = Duration::from_mins(2);
/// Ack timeout before redelivery. Longer than a result takes to commit.
const ACK_WAIT: Duration = Duration::from_secs(30);
/// Maximum number of results in flight.
const IN_FLIGHT_MAX: usize = 128;
/// Bounds of the exponential backoff before the redelivery of a result whose run has no driver.
const BACKOFF_MIN: Duration = Duration::from_millis(500);
const BACKOFF_MAX: Duration = Duration::from_mins(1);
/// Interval of the check for a connection. The client reconnects by itself, and the check is local.
const CONNECTION_CHECK_INTERVAL: Duration = Duration::from_millis(250);

/// Consumes results. Never returns.
pub(crate) async fn take_results(orchestrator: &Orchestrator, users: &NatsUsers, monitor: &TaskMonitor) {
    let (mut logged_error, mut is_disconnected) = (String::new(), false);
    loop {
        if !orchestrator.bus.is_connected() {
            // The connection logs the outage. One outage counts as one failure, however often it is polled.
            if !is_disconnected {
                monitor.fail("not connected to NATS");
            }
            is_disconnected = true;
            orchestrator.metrics.bus.stores_results.set(0);
            tokio::time::sleep(CONNECTION_CHECK_INTERVAL).await;
            continue;
        }
        is_disconnected = false;
        monitor.start();
        let Err(error) = take_all(orchestrator, users, monitor).await;
        monitor.fail(ErrorChain(&error).to_string());
        orchestrator.metrics.bus.stores_results.set(0);
        if matches!(error, NatsReject::Bus(BusError::Unavailable(_))) {
            // The NATS client has already logged the lost connection.
            tokio::time::sleep(CONNECTION_CHECK_INTERVAL).await;
            continue;
        }
        // Log a persistent error once, not on every retry.
        let error = ErrorChain(&error).to_string();
        if error != logged_error {
            tracing::warn!(
                error,
                "the NATS result stream is unavailable; only agents retain results until a server acknowledges them"
            );
            logged_error = error;
        }
        tokio::time::sleep(LISTEN_RETRY_INTERVAL).await;
    }
}

/// Consumes results until an error occurs.
async fn take_all(
    orchestrator: &Orchestrator,
    users: &NatsUsers,
    monitor: &TaskMonitor,
) -> Result<std::convert::Infallible, NatsReject> {
    let Bus::Nats(nats) = &orchestrator.bus else { return Err(NatsReject::Unauthenticated) };
    if !nats.is_up() {
        return Err(BusError::Unavailable("not connected to NATS".into()).into());
    }
    if !nats.requires_auth() {
        return Err(NatsReject::Unauthenticated);
    }
    let mut consumer = orchestrator.bus.consumer(&settings()?).await?;
    monitor.succeed();
    orchestrator.metrics.bus.stores_results.set(1);
    tracing::info!("consuming results from the NATS result stream");
    let permits = Arc::new(Semaphore::new(IN_FLIGHT_MAX));
    loop {
        let Ok(permit) = Arc::clone(&permits).acquire_owned().await else {
            return Err(NatsReject::Malformed);
        };
        let delivery = consumer.next().await?;
        let (orchestrator, users) = (orchestrator.clone(), users.clone());
        let background = orchestrator.background.clone();
        background.spawn(async move {
            handle(&orchestrator, &users, delivery).await;
            drop(permit);
        });
    }
}

fn settings() -> Result<StreamSettings, SubjectError> {
    Ok(StreamSettings {
        name: RESULTS_STREAM,
        subjects: SubjectPattern::new(RESULT_SUBJECTS)?,
        consumers: SERVER_QUEUE_GROUP,
        bytes_max: BYTES_MAX,
        age_max: AGE_MAX,
        dedup_window: DEDUP_WINDOW,
        ack_wait: ACK_WAIT,
    })
}

async fn handle(orchestrator: &Orchestrator, users: &NatsUsers, delivery: Delivery) {
    let receipt = match authenticate_and_decode(orchestrator, users, &delivery).await {
        Ok((uid, finished)) => deliver_and_wait(orchestrator, &uid, finished, Hops::Allowed).await,
        // The database may be unavailable; retry.
        Err(NatsReject::Store(error)) => {
            tracing::warn!(error = %ErrorChain(&error), "cannot identify the agent of a result from the NATS result stream; retrying");
            Receipt::Pending
        }
        Err(error) => {
            tracing::warn!(subject = %delivery.subject, error = %ErrorChain(&error), "rejected a result from the NATS result stream");
            orchestrator.metrics.bus.result("refused");
            return acknowledge(delivery).await;
        }
    };
    match receipt {
        Receipt::Committed => {
            orchestrator.metrics.bus.result("settled");
            acknowledge(delivery).await;
        }
        Receipt::Refused => {
            orchestrator.metrics.bus.result("refused");
            acknowledge(delivery).await;
        }
        Receipt::Pending => {
            orchestrator.metrics.bus.result("later");
            let after = redelivery_backoff(delivery.n_deliveries);
            if let Err(error) = delivery.nak(after).await {
                tracing::debug!(error = %ErrorChain(&error), "cannot request redelivery of a result; NATS redelivers it after the ack timeout");
            }
        }
    }
}

async fn acknowledge(delivery: Delivery) {
    if let Err(error) = delivery.ack().await {
        tracing::debug!(error = %ErrorChain(&error), "cannot acknowledge a stored result; NATS redelivers it");
    }
}

async fn authenticate_and_decode(
    orchestrator: &Orchestrator,
    users: &NatsUsers,
    delivery: &Delivery,
) -> Result<(AgentUid, AttemptResult), NatsReject> {
    let sender = authenticate(orchestrator, users, &delivery.subject).await?;
    match decode_from_agent(&String::from_utf8_lossy(&delivery.body)) {
        Ok(Decoded::Message(FromAgent::Finished(finished))) => Ok((sender.uid, finished)),
        _ => Err(NatsReject::Malformed),
    }
}

fn redelivery_backoff(n_deliveries: u64) -> Duration {
    let n_before = u32::try_from(n_deliveries.saturating_sub(1)).unwrap_or(u32::MAX);
    BACKOFF_MIN.saturating_mul(2_u32.saturating_pow(n_before.min(16))).min(BACKOFF_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redelivery_backoff_is_exponential_and_bounded() {
        assert_eq!([0, 1, 2, 3].map(redelivery_backoff), [1, 1, 2, 4].map(|n| BACKOFF_MIN * n));
        assert_eq!([100, u64::MAX].map(redelivery_backoff), [BACKOFF_MAX; 2]);
    }

    #[test]
    fn result_subject_pattern_is_valid() {
        assert_eq!(settings().unwrap().subjects.as_str(), "stoker.agent.*.*.result");
    }
}
