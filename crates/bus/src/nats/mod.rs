//! Delivery through NATS.
//!
//! The connection is established in the background and re-established indefinitely: an unavailable NATS is a
//! state, not an error. Subscriptions are restored after a reconnect. Messages are not queued while
//! disconnected; sending fails with [`BusError::Unavailable`].

mod authority;
mod consumer;
mod options;
mod revocation;

use std::sync::Arc;
use std::time::Duration;

use async_nats::connection::State;
use async_nats::{Client, Event, Subscriber};
use futures_util::StreamExt as _;
use tokio::sync::mpsc;

pub(crate) use consumer::{NatsAck, NatsConsumer};

pub use authority::{
    AuthorityError, DISK_BYTES, NatsAuthority, NatsUser, Permissions, Revocations, Seconds, user_key,
};
pub use options::{NatsAuth, NatsError, NatsOptions, UserKeys};
pub use revocation::{RevokeError, revoke};

use crate::counts::{BusStats, Counts};
use crate::error::{BoxedError, BusError};
use crate::subject::{Subject, SubjectPattern};
use crate::subscription::{Listener, Message, Subscription};

/// Send timeout on a connection that is open but stalled.
const SEND_TIME_MAX: Duration = Duration::from_secs(2);
/// Connect timeout.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(5);
/// Ping interval. A connection with two unanswered pings is dead.
const PING_EVERY: Duration = Duration::from_secs(5);
/// Bounds of the reconnect backoff.
const BACKOFF_MIN: Duration = Duration::from_millis(50);
const BACKOFF_MAX: Duration = Duration::from_secs(3);

#[derive(Clone)]
pub struct NatsBus {
    client: Client,
    counts: Arc<Counts>,
}

impl NatsBus {
    /// Returns immediately; [`NatsBus::is_up`] reports the state of the connection. Fails only on permanent
    /// errors: an invalid address or unreadable credentials.
    pub async fn connect(options: &NatsOptions) -> Result<Self, NatsError> {
        let addresses = options.addresses()?;
        let counts = Arc::new(Counts::default());
        let lost = Arc::clone(&counts);
        let connecting = options
            .connect_options()?
            .retry_on_initial_connect()
            .max_reconnects(None)
            .connection_timeout(CONNECT_TIME_MAX)
            .ping_interval(PING_EVERY)
            .subscription_capacity(crate::SUBSCRIBER_BUFFER_MAX)
            .reconnect_delay_callback(reconnect_delay)
            .event_callback(move |event| {
                log_event(&event, &lost);
                std::future::ready(())
            });
        let client = connecting.connect(addresses).await;
        Ok(Self { client: client.map_err(NatsError::Start)?, counts })
    }

    pub fn is_up(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// Reports whether NATS requires authentication.
    pub fn requires_auth(&self) -> bool {
        self.client.try_server_info().is_some_and(|info| info.auth_required)
    }

    pub(crate) fn stats(&self) -> BusStats {
        self.counts.stats()
    }

    pub(crate) async fn publish(
        &self,
        subject: &Subject,
        body: Vec<u8>,
        no_subscriber_reply: Option<&Subject>,
    ) -> Result<(), BusError> {
        if !self.is_up() {
            return Err(away("not connected to NATS"));
        }
        let n_bytes = body.len();
        if n_bytes > self.client.max_payload() {
            return Err(BusError::TooLarge { n_bytes });
        }
        let subject = subject.as_str().to_owned();
        match no_subscriber_reply {
            None => with_timeout(self.client.publish(subject, body.into())).await?,
            // NATS itself replies with an empty status message if there is no subscriber.
            Some(no_subscriber_reply) => {
                let no_subscriber_reply = no_subscriber_reply.as_str().to_owned();
                with_timeout(self.client.publish_with_reply(subject, no_subscriber_reply, body.into()))
                    .await?;
            }
        }
        self.counts.add_published();
        Ok(())
    }

    pub(crate) async fn subscribe(
        &self,
        pattern: &SubjectPattern,
        group: Option<&str>,
    ) -> Result<Subscription, BusError> {
        let pattern = pattern.as_str().to_owned();
        let subscriber = match group {
            None => with_timeout(self.client.subscribe(pattern)).await?,
            Some(group) => with_timeout(self.client.queue_subscribe(pattern, group.to_owned())).await?,
        };
        if self.is_up() {
            // If disconnected, the subscription becomes effective on reconnect.
            with_timeout(self.client.flush()).await?;
        }
        let (sender, messages) = mpsc::channel(crate::SUBSCRIBER_BUFFER_MAX);
        tokio::spawn(pump(subscriber, Listener::new(sender, Arc::clone(&self.counts))));
        Ok(Subscription { messages })
    }
}

/// Forwards messages to a listener until it is closed. Counts dropped messages exactly, unlike the client.
async fn pump(mut subscriber: Subscriber, listener: Listener) {
    loop {
        tokio::select! {
            message = subscriber.next() => {
                let Some(message) = message else { return };
                let words = message.subject.as_str().split('.');
                // Other applications on the same NATS may use subjects that are invalid here.
                let Ok(subject) = Subject::new(words) else { continue };
                listener.deliver(Message { subject, body: message.payload.to_vec() });
            }
            () = listener.closed() => return,
        }
    }
}

async fn with_timeout<T, E: Into<BoxedError>>(
    operation: impl Future<Output = Result<T, E>>,
) -> Result<T, BusError> {
    match tokio::time::timeout(SEND_TIME_MAX, operation).await {
        Ok(result) => result.map_err(away),
        Err(_) => Err(away("the connection is stalled")),
    }
}

fn away(error: impl Into<BoxedError>) -> BusError {
    BusError::Unavailable(error.into())
}

fn log_event(event: &Event, counts: &Counts) {
    match event {
        Event::Connected => tracing::info!("connected to NATS"),
        Event::Disconnected => tracing::warn!("connection to NATS lost"),
        Event::SlowConsumer(_) => counts.add_lost(),
        // Repeated with each attempt, several times a minute.
        Event::ClientError(_) => tracing::debug!(event = %event, "cannot connect to NATS"),
        other => tracing::warn!(event = %other, "NATS client event"),
    }
}

/// Returns the delay before a reconnect, with exponential backoff; the first attempt is immediate.
fn reconnect_delay(n_attempts: usize) -> Duration {
    let n_failures = u32::try_from(n_attempts.saturating_sub(1)).unwrap_or(u32::MAX);
    if n_failures == 0 {
        return Duration::ZERO;
    }
    BACKOFF_MIN.saturating_mul(2_u32.saturating_pow(n_failures.min(10))).min(BACKOFF_MAX)
}
