//! Delivery through NATS.
//!
//! The connection is made in the background and again whenever it is lost, for ever: a NATS that is away is a state, not an
//! error. What is listened to is listened to again after that. Nothing waits here for later: what cannot be sent now is
//! answered with [`BusError::Away`].

mod authority;
mod keeper;
mod options;
mod revoking;

use std::sync::Arc;
use std::time::Duration;

use async_nats::connection::State;
use async_nats::{Client, Event, Subscriber};
use futures_util::StreamExt as _;
use tokio::sync::mpsc;

pub(crate) use keeper::{NatsKeeper, NatsReceipt};

pub use authority::{
    Authority, AuthorityError, DISK_BYTES, NatsUser, Permissions, Revocations, Seconds, user_key,
};
pub use options::{NatsAuth, NatsError, NatsOptions, UserKeys};
pub use revoking::{RevokeError, revoke};

use crate::bus::BusError;
use crate::counts::{BusStats, Counts};
use crate::subject::{Pattern, Subject};
use crate::subscription::{Listener, Message, Subscription};

/// How long a message may wait for a connection that stands and takes nothing.
const SEND_TIME_MAX: Duration = Duration::from_secs(2);
/// How long a server of NATS may take to answer a connection.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(5);
/// A connection on which two of these are not answered is dead.
const PING_EVERY: Duration = Duration::from_secs(5);
/// Between attempts to connect.
const PAUSE_MIN: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(3);

#[derive(Clone)]
pub struct Nats {
    client: Client,
    counts: Arc<Counts>,
}

impl Nats {
    /// Returns at once; whether there is a connection is told by [`Nats::is_up`]. Fails for what waiting does not mend: an
    /// address that is none, credentials that cannot be read.
    pub async fn connect(options: &NatsOptions) -> Result<Self, NatsError> {
        let addresses = options.addresses()?;
        let counts = Arc::new(Counts::default());
        let lost = Arc::clone(&counts);
        let connecting = options
            .prepared()?
            .retry_on_initial_connect()
            .max_reconnects(None)
            .connection_timeout(CONNECT_TIME_MAX)
            .ping_interval(PING_EVERY)
            .subscription_capacity(crate::WAITING_MAX)
            .reconnect_delay_callback(pause)
            .event_callback(move |event| {
                noted(&event, &lost);
                std::future::ready(())
            });
        let client = connecting.connect(addresses).await;
        Ok(Self { client: client.map_err(|error| NatsError::Start(error.to_string()))?, counts })
    }

    pub fn is_up(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// Whether NATS asks who somebody is before it lets them in.
    pub fn is_guarded(&self) -> bool {
        self.client.try_server_info().is_some_and(|info| info.auth_required)
    }

    pub(crate) fn stats(&self) -> BusStats {
        self.counts.stats()
    }

    pub(crate) async fn publish(
        &self,
        subject: &Subject,
        body: Vec<u8>,
        told: Option<&Subject>,
    ) -> Result<(), BusError> {
        if !self.is_up() {
            return Err(away("there is no connection"));
        }
        let n_bytes = body.len();
        if n_bytes > self.client.max_payload() {
            return Err(BusError::TooLarge { n_bytes });
        }
        let subject = subject.as_str().to_owned();
        match told {
            None => in_time(self.client.publish(subject, body.into())).await?,
            // NATS itself answers where nobody listens, with a message that has a status and no body.
            Some(told) => {
                let told = told.as_str().to_owned();
                in_time(self.client.publish_with_reply(subject, told, body.into())).await?;
            }
        }
        self.counts.published();
        Ok(())
    }

    pub(crate) async fn subscribe(
        &self,
        pattern: &Pattern,
        group: Option<&str>,
    ) -> Result<Subscription, BusError> {
        let pattern = pattern.as_str().to_owned();
        let subscriber = match group {
            None => in_time(self.client.subscribe(pattern)).await?,
            Some(group) => in_time(self.client.queue_subscribe(pattern, group.to_owned())).await?,
        };
        if self.is_up() {
            // Else it waits for the connection, and so does whoever asked.
            in_time(self.client.flush()).await?;
        }
        let (sender, messages) = mpsc::channel(crate::WAITING_MAX);
        tokio::spawn(pump(subscriber, Listener::new(sender, Arc::clone(&self.counts))));
        Ok(Subscription { messages })
    }
}

/// Carries messages to a listener until it is gone. Counts what it misses exactly, which the client does not.
async fn pump(mut subscriber: Subscriber, listener: Listener) {
    loop {
        tokio::select! {
            message = subscriber.next() => {
                let Some(message) = message else { return };
                let words = message.subject.as_str().split('.');
                // Whoever else uses the same NATS may have spelled a subject in a way that is none of ours.
                let Ok(subject) = Subject::new(words) else { continue };
                listener.hand(Message { subject, body: message.payload.to_vec() });
            }
            () = listener.gone() => return,
        }
    }
}

async fn in_time<T, E: std::fmt::Display>(doing: impl Future<Output = Result<T, E>>) -> Result<T, BusError> {
    match tokio::time::timeout(SEND_TIME_MAX, doing).await {
        Ok(done) => done.map_err(|error| away(&error.to_string())),
        Err(_) => Err(away("the connection takes nothing")),
    }
}

fn away(reason: &str) -> BusError {
    BusError::Away(reason.to_owned())
}

fn noted(event: &Event, counts: &Counts) {
    match event {
        Event::Connected => tracing::info!("connected to NATS"),
        Event::Disconnected => tracing::warn!("the connection to NATS is lost"),
        Event::SlowConsumer(_) => counts.lost(),
        // Said again with each attempt, several times a minute.
        Event::ClientError(error) => tracing::debug!(%error, "no connection to NATS"),
        other => tracing::warn!(event = %other, "NATS"),
    }
}

/// The first attempt is made at once.
fn pause(n_attempts: usize) -> Duration {
    let n_failures = u32::try_from(n_attempts.saturating_sub(1)).unwrap_or(u32::MAX);
    if n_failures == 0 {
        return Duration::ZERO;
    }
    PAUSE_MIN.saturating_mul(2_u32.saturating_pow(n_failures.min(10))).min(PAUSE_MAX)
}
