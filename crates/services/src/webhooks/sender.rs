//! Sends due deliveries of the outbox and retries failed ones with backoff.

use std::error::Error;
use std::time::Duration;

use stoker_client::{HttpPoster, PostError};
use stoker_model::{DeliveryAttempt, DeliveryStatus, ErrorChain, Micros, WebhookDelivery, WebhookId};
use stoker_settings::Webhooks as Settings;
use stoker_store::StoreError;
use tokio::task::JoinSet;

use crate::random;

use super::WebhookOutbox;
use super::signature::{SIGNATURE, TIMESTAMP, sign};
use crate::background::TaskMonitor;
use crate::modules::keys::KeyError;

/// Maximum number of deliveries in flight, at most one per webhook, so that a slow receiver does not delay
/// others.
const IN_FLIGHT_MAX: usize = 16;
/// Poll interval for deliveries queued by other servers and for retries that are due.
pub const INTERVAL: Duration = Duration::from_secs(2);
const PROBLEM_CHARS_MAX: usize = 300;

/// Sends due deliveries. Never returns; dropping the future aborts the attempts in flight, whose deliveries are redelivered.
pub async fn run(webhooks: WebhookOutbox, monitor: TaskMonitor) {
    let messenger = match HttpPoster::new(webhooks.settings.webhooks.response_timeout) {
        Ok(messenger) => messenger,
        Err(error) => {
            tracing::error!(error = %ErrorChain(&error), "cannot create the webhook HTTP client");
            monitor.fail(ErrorChain(&error).to_string());
            return;
        }
    };
    let mut attempts = JoinSet::new();
    let mut ticks = tokio::time::interval(INTERVAL);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = webhooks.bell.notified() => {}
        }
        while attempts.try_join_next().is_some() {}
        monitor.start();
        let sent = send_due(&webhooks, &messenger, &mut attempts).await;
        if let Err(error) = &sent {
            tracing::warn!(error = %ErrorChain(error), "cannot read due webhook deliveries; retrying");
        }
        monitor.finish(&sent);
    }
}

async fn send_due(
    webhooks: &WebhookOutbox,
    messenger: &HttpPoster,
    attempts: &mut JoinSet<()>,
) -> Result<(), StoreError> {
    let busy = webhooks.busy();
    let n_free = IN_FLIGHT_MAX.saturating_sub(busy.len());
    if n_free == 0 {
        return Ok(());
    }
    let now = webhooks.clock.now();
    let until = Micros(now.0 + micros(lease(&webhooks.settings.webhooks)));
    for delivery in webhooks.store.deliveries_claim(&busy, n_free, now, until).await? {
        let in_flight = InFlight::begin(webhooks, delivery.webhook_id);
        let messenger = messenger.clone();
        attempts.spawn(async move { attempt(&in_flight.webhooks, messenger, delivery).await });
    }
    Ok(())
}

/// Returns the time that a claimed delivery is invisible to other servers: longer than an attempt takes.
fn lease(settings: &Settings) -> Duration {
    settings.response_timeout * 2 + Duration::from_secs(1)
}

/// A webhook with a delivery in flight. Dropping it wakes the sender.
struct InFlight {
    webhooks: WebhookOutbox,
    webhook: WebhookId,
}

impl InFlight {
    fn begin(webhooks: &WebhookOutbox, webhook: WebhookId) -> Self {
        webhooks.set_busy(webhook, true);
        Self { webhooks: webhooks.clone(), webhook }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.webhooks.set_busy(self.webhook, false);
        self.webhooks.notify();
    }
}

async fn attempt(webhooks: &WebhookOutbox, messenger: HttpPoster, delivery: WebhookDelivery) {
    let (answer, problem) = match send(webhooks, &messenger, &delivery).await {
        Ok(Some(status @ 200..=299)) => (Some(status), None),
        Ok(Some(status)) => (Some(status), Some(format!("the receiver responded with status {status}"))),
        // The webhook was deleted together with its deliveries.
        Ok(None) => return,
        Err(error) => (None, Some(problem_text(&error))),
    };
    let now = webhooks.clock.now();
    let tried = record_outcome(&webhooks.settings.webhooks, &delivery, answer, problem, now, jitter());
    webhooks.metrics.attempted(tried.status);
    if let Some(problem) = &tried.problem {
        tracing::warn!(
            webhook.id = delivery.webhook_id.0,
            delivery.id = delivery.id.0,
            attempt = delivery.attempts,
            problem,
            is_given_up = tried.status == DeliveryStatus::Failed,
            "webhook delivery failed"
        );
    }
    // If this fails, the delivery is sent again: delivery is at least once.
    if let Err(error) = webhooks.store.delivery_record_attempt(delivery.id, delivery.attempts, &tried).await {
        tracing::warn!(error = %ErrorChain(&error), delivery.id = delivery.id.0, "cannot record the outcome of a delivery; it will be sent again");
    }
}

/// Error of an attempt without a response.
#[derive(Debug, thiserror::Error)]
enum AttemptError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Secret(#[from] KeyError),
    #[error(transparent)]
    Post(#[from] PostError),
}

/// Returns the HTTP status of the response; `None` if the webhook no longer exists.
async fn send(
    webhooks: &WebhookOutbox,
    messenger: &HttpPoster,
    delivery: &WebhookDelivery,
) -> Result<Option<u16>, AttemptError> {
    let mut session = webhooks.store.read().await?;
    let Some(webhook) = session.webhook_get(delivery.webhook_id).await? else { return Ok(None) };
    let sealed = session.webhook_secret(delivery.webhook_id).await?;
    drop(session);
    let secret = webhooks.keys.unseal(&sealed)?;
    let timestamp = webhooks.clock.now().0 / Micros::SECOND;
    let body = delivery.body.to_string().into_bytes();
    let headers = [
        (SIGNATURE, sign(&secret, timestamp, &body)),
        (TIMESTAMP, timestamp.to_string()),
        ("x-stoker-topic", delivery.topic.to_string()),
        ("x-stoker-delivery", delivery.id.to_string()),
    ];
    Ok(Some(messenger.post(&webhook.body.url, &headers, body).await?.as_u16()))
}

/// Returns an error as stored with the delivery. PostgreSQL cannot store NUL in texts.
fn problem_text(error: &dyn Error) -> String {
    ErrorChain(error).to_string().chars().filter(|c| *c != '\0').take(PROBLEM_CHARS_MAX).collect()
}

/// Records the outcome of an attempt: delivered unless there is a problem. `jitter` is between 0 and 1.
fn record_outcome(
    settings: &Settings,
    delivery: &WebhookDelivery,
    answer: Option<u16>,
    problem: Option<String>,
    now: Micros,
    jitter: f64,
) -> DeliveryAttempt {
    let is_last = delivery.attempts >= i64::from(settings.attempts_max);
    let status = match (&problem, is_last) {
        (None, _) => DeliveryStatus::Delivered,
        (Some(_), false) => DeliveryStatus::Pending,
        (Some(_), true) => DeliveryStatus::Failed,
    };
    let pause = if problem.is_none() { Duration::ZERO } else { backoff(settings, delivery.attempts, jitter) };
    let due_at = Micros(now.0 + micros(pause));
    DeliveryAttempt { status, due_at, tried_at: now, answer: answer.map(i64::from), problem }
}

/// Returns the exponential backoff with jitter: doubled after each failure, scaled by a random factor between
/// 0.5 and 1.
fn backoff(settings: &Settings, n_failures: i64, jitter: f64) -> Duration {
    let doublings = u32::try_from(n_failures.clamp(1, 31) - 1).unwrap_or(0);
    let longest = settings.backoff_min.saturating_mul(1 << doublings).min(settings.backoff_max);
    longest.mul_f64(0.5 + jitter.clamp(0.0, 1.0) / 2.0)
}

fn jitter() -> f64 {
    random::bytes::<4>().map_or(0.5, |bytes| f64::from(u32::from_le_bytes(bytes)) / f64::from(u32::MAX))
}

fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX / 4)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use stoker_model::{DeliveryId, Topic};

    use super::*;

    const NOW: Micros = Micros(1_000_000_000);

    fn delivery(attempts: i64) -> WebhookDelivery {
        WebhookDelivery {
            id: DeliveryId(1),
            webhook_id: WebhookId(1),
            topic: Topic::RunFailed,
            body: json!({}),
            status: DeliveryStatus::Pending,
            attempts,
            next_attempt_at: NOW,
            created_at: NOW,
            last_attempt_at: None,
            response_status: None,
            last_error: None,
        }
    }

    #[test]
    fn failed_deliveries_are_retried_up_to_the_limit() {
        let settings = Settings { attempts_max: 3, ..Settings::default() };
        let outcome = |attempts, answer, problem: Option<&str>| {
            record_outcome(&settings, &delivery(attempts), answer, problem.map(str::to_owned), NOW, 1.0)
        };
        let well = outcome(1, Some(204), None);
        assert_eq!((well.status, well.answer, well.problem), (DeliveryStatus::Delivered, Some(204), None));
        for answer in [Some(500), Some(302), Some(404), None] {
            let first = outcome(1, answer, Some("no route"));
            assert_eq!(first.status, DeliveryStatus::Pending, "{answer:?}");
            assert_eq!(first.due_at.0 - NOW.0, Micros::SECOND);
            assert_eq!(first.problem.as_deref(), Some("no route"));
            assert_eq!(outcome(2, answer, Some("no route")).due_at.0 - NOW.0, 2 * Micros::SECOND);
            assert_eq!(outcome(3, answer, Some("no route")).status, DeliveryStatus::Failed);
        }
    }

    #[test]
    fn problem_is_storable_text() {
        let error = std::io::Error::other(format!("no\0 route {}", "x".repeat(1000)));
        let text = problem_text(&error);
        assert!(text.starts_with("no route x") && text.chars().count() == PROBLEM_CHARS_MAX, "{text}");
    }

    #[test]
    fn backoff_grows_to_its_limit_with_jitter() {
        let settings = Settings::default();
        let mut last = Duration::ZERO;
        for n_failures in 1..60 {
            let (shortest, longest) =
                (backoff(&settings, n_failures, 0.0), backoff(&settings, n_failures, 1.0));
            assert!(shortest < longest && longest <= settings.backoff_max, "{n_failures}");
            assert!(longest >= last, "{n_failures}");
            last = longest;
        }
        assert_eq!(last, settings.backoff_max);
        let all: Duration = (1..i64::from(settings.attempts_max)).map(|n| backoff(&settings, n, 1.0)).sum();
        assert!((4 * 3600..7 * 3600).contains(&all.as_secs()), "{all:?}");
    }
}
