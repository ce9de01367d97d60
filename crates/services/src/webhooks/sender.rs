//! Empties the outbox: what is due is sent, and tried again later where that fails.

use std::time::Duration;

use stoker_client::Messenger;
use stoker_model::{Delivery, DeliveryStatus, DeliveryTry, Micros, WebhookId};
use stoker_settings::Webhooks as Settings;
use stoker_store::StoreError;
use tokio::task::JoinSet;

use crate::random;

use super::Webhooks;
use super::signature::{SIGNATURE, TIMESTAMP, sign};
use crate::background::TaskMonitor;

/// Messages under way at the same time, to a webhook each: one that does not answer holds up nobody else.
const AT_ONCE_MAX: usize = 16;
/// How often messages of other servers, and such as failed, are looked for.
pub const INTERVAL: Duration = Duration::from_secs(2);
const PROBLEM_CHARS_MAX: usize = 300;

/// Sends due deliveries. Never returns; dropping the future aborts the attempts in flight, whose deliveries are redelivered.
pub async fn run(webhooks: Webhooks, monitor: TaskMonitor) {
    let messenger = match Messenger::new(webhooks.settings.webhooks.answer_time) {
        Ok(messenger) => messenger,
        Err(error) => {
            tracing::error!(error = %error, "cannot create the webhook HTTP client");
            monitor.fail(&error);
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
            tracing::warn!(error = %error, "cannot read due webhook deliveries; retrying");
        }
        monitor.finish(&sent);
    }
}

async fn send_due(
    webhooks: &Webhooks,
    messenger: &Messenger,
    attempts: &mut JoinSet<()>,
) -> Result<(), StoreError> {
    let busy = webhooks.busy();
    let n_free = AT_ONCE_MAX.saturating_sub(busy.len());
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

/// How long a message is nobody else's: more than sending it takes.
fn lease(settings: &Settings) -> Duration {
    settings.answer_time * 2 + Duration::from_secs(1)
}

/// A webhook with a delivery in flight; when it is over, the sender looks for the next one.
struct InFlight {
    webhooks: Webhooks,
    webhook: WebhookId,
}

impl InFlight {
    fn begin(webhooks: &Webhooks, webhook: WebhookId) -> Self {
        webhooks.set_busy(webhook, true);
        Self { webhooks: webhooks.clone(), webhook }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.webhooks.set_busy(self.webhook, false);
        self.webhooks.ring();
    }
}

async fn attempt(webhooks: &Webhooks, messenger: Messenger, delivery: Delivery) {
    let sent = match prepare(webhooks, &delivery).await {
        Ok(Some(request)) => post(messenger, request).await,
        // It was deleted, and its messages with it.
        Ok(None) => return,
        Err(problem) => Err(problem),
    };
    let tried = judge(&webhooks.settings.webhooks, &delivery, sent, webhooks.clock.now(), dice());
    webhooks.metrics.attempted(tried.status);
    if let Some(problem) = &tried.problem {
        tracing::warn!(
            webhook.id = delivery.webhook_id.0,
            delivery.id = delivery.id.0,
            attempt = delivery.attempts,
            problem,
            is_given_up = tried.status == DeliveryStatus::Failed,
            "a webhook was not told what happened"
        );
    }
    // If this fails it is sent once more: at least once is the promise.
    if let Err(error) = webhooks.store.delivery_tried(delivery.id, delivery.attempts, &tried).await {
        tracing::warn!(error = %error, delivery.id = delivery.id.0, "what came of a message was not noted");
    }
}

/// What goes out.
struct Request {
    url: String,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

async fn prepare(webhooks: &Webhooks, delivery: &Delivery) -> Result<Option<Request>, String> {
    let read = async {
        let mut session = webhooks.store.read().await?;
        let Some(webhook) = session.webhook_get(delivery.webhook_id).await? else { return Ok(None) };
        Ok(Some((webhook, session.webhook_secret(delivery.webhook_id).await?)))
    };
    let read: Result<_, StoreError> = read.await;
    let Some((webhook, sealed)) = read.map_err(|error| error.to_string())? else { return Ok(None) };
    let secret = webhooks.keys.unseal(&sealed).map_err(|error| error.to_string())?;
    let timestamp = webhooks.clock.now().0 / Micros::SECOND;
    let body = delivery.body.to_string().into_bytes();
    let headers = vec![
        (SIGNATURE, sign(&secret, timestamp, &body)),
        (TIMESTAMP, timestamp.to_string()),
        ("x-stoker-topic", delivery.topic.to_string()),
        ("x-stoker-delivery", delivery.id.to_string()),
    ];
    Ok(Some(Request { url: webhook.body.url, headers, body }))
}

/// The status of the answer. A thread of its own: the end of the server does not wait for a receiver.
async fn post(messenger: Messenger, request: Request) -> Result<u16, String> {
    let (done, answer) = tokio::sync::oneshot::channel();
    let send = move || {
        let status = messenger.post(&request.url, &request.headers, &request.body);
        _ = done.send(status.map_err(|error| error.to_string()));
    };
    let started = std::thread::Builder::new().name("webhook".to_owned()).spawn(send);
    started.map_err(|error| format!("no thread: {error}"))?;
    answer.await.unwrap_or_else(|_| Err("it was broken off".to_owned()))
}

/// What a try comes to. `dice` is from 0 to 1.
fn judge(
    settings: &Settings,
    delivery: &Delivery,
    sent: Result<u16, String>,
    now: Micros,
    dice: f64,
) -> DeliveryTry {
    let (answer, problem) = match sent {
        Ok(status @ 200..=299) => {
            let answer = Some(i64::from(status));
            let status = DeliveryStatus::Delivered;
            return DeliveryTry { status, due_at: now, tried_at: now, answer, problem: None };
        }
        Ok(status) => (Some(i64::from(status)), format!("the receiver said {status}")),
        Err(problem) => (None, problem.chars().filter(|c| *c != '\0').take(PROBLEM_CHARS_MAX).collect()),
    };
    let is_last = delivery.attempts >= i64::from(settings.attempts_max);
    let status = if is_last { DeliveryStatus::Failed } else { DeliveryStatus::Pending };
    let due_at = Micros(now.0 + micros(pause(settings, delivery.attempts, dice)));
    DeliveryTry { status, due_at, tried_at: now, answer, problem: Some(problem) }
}

/// Twice as long after each failure; at random between half of it and all, so that many do not come back together.
fn pause(settings: &Settings, n_failures: i64, dice: f64) -> Duration {
    let doublings = u32::try_from(n_failures.clamp(1, 31) - 1).unwrap_or(0);
    let longest = settings.pause_min.saturating_mul(1 << doublings).min(settings.pause_max);
    longest.mul_f64(0.5 + dice.clamp(0.0, 1.0) / 2.0)
}

fn dice() -> f64 {
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

    fn delivery(attempts: i64) -> Delivery {
        Delivery {
            id: DeliveryId(1),
            webhook_id: WebhookId(1),
            topic: Topic::RunFailed,
            body: json!({}),
            status: DeliveryStatus::Pending,
            attempts,
            due_at: NOW,
            created_at: NOW,
            tried_at: None,
            answer: None,
            problem: None,
        }
    }

    #[test]
    fn what_is_not_a_success_is_tried_again_and_given_up_in_the_end() {
        let settings = Settings { attempts_max: 3, ..Settings::default() };
        let judged = |attempts, sent| judge(&settings, &delivery(attempts), sent, NOW, 1.0);
        let well = judged(1, Ok(204));
        assert_eq!((well.status, well.answer, well.problem), (DeliveryStatus::Delivered, Some(204), None));
        for sent in [Ok(500), Ok(302), Ok(404), Err("no route\0".to_owned())] {
            let first = judged(1, sent.clone());
            assert_eq!(first.status, DeliveryStatus::Pending, "{sent:?}");
            assert_eq!(first.due_at.0 - NOW.0, Micros::SECOND);
            assert!(first.problem.as_deref().is_some_and(|problem| !problem.contains('\0')));
            assert_eq!(judged(2, sent.clone()).due_at.0 - NOW.0, 2 * Micros::SECOND);
            assert_eq!(judged(3, sent).status, DeliveryStatus::Failed);
        }
    }

    #[test]
    fn pauses_grow_to_a_limit_and_differ() {
        let settings = Settings::default();
        let mut last = Duration::ZERO;
        for n_failures in 1..60 {
            let (shortest, longest) = (pause(&settings, n_failures, 0.0), pause(&settings, n_failures, 1.0));
            assert!(shortest < longest && longest <= settings.pause_max, "{n_failures}");
            assert!(longest >= last, "{n_failures}");
            last = longest;
        }
        assert_eq!(last, settings.pause_max);
        let all: Duration = (1..i64::from(settings.attempts_max)).map(|n| pause(&settings, n, 1.0)).sum();
        assert!((4 * 3600..7 * 3600).contains(&all.as_secs()), "{all:?}");
    }
}
