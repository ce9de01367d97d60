//! Durable messages in JetStream.
//!
//! Uses a few requests of the JetStream API: create stream and consumer, pull messages, acknowledge them. The
//! first server creates both; if an operator has changed their configuration since, it is left as it is.

use std::time::Duration;

use async_nats::{HeaderMap, Request, RequestErrorKind, StatusCode, Subscriber};
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{NatsBus, away, with_timeout};
use crate::error::BusError;
use crate::retained::{Retained, StreamSettings};
use crate::subject::Subject;

const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// Number of messages requested per pull.
const BATCH: usize = 64;
/// Expiry of a pull request.
const PULL_EXPIRY: Duration = Duration::from_secs(5);
/// Extra time for NATS to report the expiry before the request counts as lost.
const SLACK: Duration = Duration::from_secs(3);
/// Maximum number of unacknowledged messages, including those waiting for redelivery.
const ACK_PENDING_MAX: u32 = 20_000;
const NO_JETSTREAM: &str = "JetStream is not enabled for this NATS account";

pub(crate) struct NatsConsumer {
    nats: NatsBus,
    stream: &'static str,
    consumer_name: &'static str,
    inbox: Subscriber,
    reply: String,
    /// Number of requested messages that have not arrived, and the deadline for them.
    n_requested: usize,
    deadline: Instant,
}

pub(crate) struct NatsAck {
    nats: NatsBus,
    reply: async_nats::Subject,
}

impl NatsBus {
    pub(crate) async fn store(&self, subject: &Subject, id: &str, body: Vec<u8>) -> Result<(), BusError> {
        let mut headers = HeaderMap::new();
        headers.insert("Nats-Msg-Id", id);
        let request = Request::new().headers(headers).payload(body.into());
        self.request(subject.as_str().to_owned(), request).await?;
        self.counts.add_published();
        Ok(())
    }

    pub(crate) async fn consumer(&self, settings: &StreamSettings) -> Result<NatsConsumer, BusError> {
        let StreamSettings { name, consumers: consumer_name, .. } = *settings;
        let create = format!("STREAM.CREATE.{name}");
        self.ensure(create, &stream(settings), format!("STREAM.INFO.{name}")).await?;
        let create = format!("CONSUMER.DURABLE.CREATE.{name}.{consumer_name}");
        self.ensure(create, &consumer(settings), format!("CONSUMER.INFO.{name}.{consumer_name}")).await?;
        let reply = self.client.new_inbox();
        let inbox = with_timeout(self.client.subscribe(reply.clone())).await?;
        let nats = self.clone();
        Ok(NatsConsumer {
            nats,
            stream: name,
            consumer_name,
            inbox,
            reply,
            n_requested: 0,
            deadline: Instant::now(),
        })
    }

    /// Creates a stream or consumer, or checks that it exists.
    async fn ensure(&self, create: String, config: &Value, lookup: String) -> Result<(), BusError> {
        let Err(error) = self.api_request(create, config.to_string()).await else { return Ok(()) };
        self.api_request(lookup, String::new()).await.map_err(|_| error)
    }

    async fn api_request(&self, what: String, body: String) -> Result<(), BusError> {
        self.request(format!("$JS.API.{what}"), Request::new().payload(body.into())).await
    }

    /// Reports whether the connected server has JetStream. If not, another server of its NATS cluster may
    /// provide it.
    fn has_jetstream(&self) -> bool {
        self.client.try_server_info().is_some_and(|info| info.jetstream)
    }

    async fn request(&self, subject: String, request: Request) -> Result<(), BusError> {
        if !self.is_up() {
            return Err(away("not connected to NATS"));
        }
        let request = request.timeout(Some(REQUEST_TIMEOUT));
        let answer =
            self.client.send_request(subject, request).await.map_err(|error| match error.kind() {
                RequestErrorKind::NoResponders => BusError::DurableUnavailable(NO_JETSTREAM.to_owned()),
                // If the account has JetStream limits but the server has no JetStream, there is no response
                // at all.
                RequestErrorKind::TimedOut if !self.has_jetstream() => {
                    BusError::DurableUnavailable(NO_JETSTREAM.to_owned())
                }
                RequestErrorKind::TimedOut => away("no response from NATS"),
                _ => away(error),
            })?;
        let answer: Value = serde_json::from_slice(&answer.payload).unwrap_or_default();
        match answer.get("error") {
            None => Ok(()),
            Some(error) => {
                let reason = error.get("description").and_then(Value::as_str).unwrap_or("no reason given");
                Err(BusError::DurableUnavailable(reason.to_owned()))
            }
        }
    }
}

fn stream(settings: &StreamSettings) -> Value {
    json!({
        "name": settings.name,
        "subjects": [settings.subjects.as_str()],
        "retention": "workqueue",
        "storage": "file",
        "discard": "old",
        "max_bytes": settings.bytes_max,
        "max_age": nanoseconds(settings.age_max),
        "max_msgs": -1,
        "max_msg_size": -1,
        "max_consumers": -1,
        "num_replicas": 1,
        "duplicate_window": nanoseconds(settings.dedup_window),
    })
}

fn consumer(settings: &StreamSettings) -> Value {
    json!({
        "stream_name": settings.name,
        "config": {
            "durable_name": settings.consumers,
            "deliver_policy": "all",
            "replay_policy": "instant",
            "ack_policy": "explicit",
            "ack_wait": nanoseconds(settings.ack_wait),
            "max_deliver": -1,
            "max_ack_pending": ACK_PENDING_MAX,
        },
    })
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl NatsConsumer {
    pub(crate) async fn next(&mut self) -> Result<Retained<NatsAck>, BusError> {
        loop {
            if self.n_requested == 0 {
                self.pull().await?;
            }
            let Ok(message) = tokio::time::timeout_at(self.deadline, self.inbox.next()).await else {
                self.n_requested = 0;
                // A lost connection drops the pull request. Check that the consumer still exists before
                // repeating it.
                let lookup = format!("CONSUMER.INFO.{}.{}", self.stream, self.consumer_name);
                self.nats.api_request(lookup, String::new()).await?;
                continue;
            };
            let message = message.ok_or_else(|| away("the connection was closed"))?;
            match message.status {
                None => {
                    self.n_requested -= 1;
                    if let Some(delivery) = self.to_delivery(message) {
                        self.nats.counts.add_received();
                        return Ok(delivery);
                    }
                }
                // Fewer messages than requested.
                Some(StatusCode::TIMEOUT | StatusCode::NOT_FOUND) => self.n_requested = 0,
                Some(status) => {
                    let reason = message.description.unwrap_or_else(|| status.to_string());
                    return Err(BusError::DurableUnavailable(reason));
                }
            }
        }
    }

    async fn pull(&mut self) -> Result<(), BusError> {
        if !self.nats.is_up() {
            return Err(away("not connected to NATS"));
        }
        let subject = format!("$JS.API.CONSUMER.MSG.NEXT.{}.{}", self.stream, self.consumer_name);
        let body = json!({"batch": BATCH, "expires": nanoseconds(PULL_EXPIRY)}).to_string();
        with_timeout(self.nats.client.publish_with_reply(subject, self.reply.clone(), body.into())).await?;
        self.n_requested = BATCH;
        self.deadline = Instant::now() + PULL_EXPIRY + SLACK;
        Ok(())
    }

    /// Converts a message to a delivery. Returns `None` if Stoker did not publish it: other applications may
    /// share the NATS server.
    fn to_delivery(&self, message: async_nats::Message) -> Option<Retained<NatsAck>> {
        let reply = message.reply?;
        let subject = Subject::new(message.subject.as_str().split('.')).ok()?;
        let n_deliveries = n_deliveries(reply.as_str())?;
        let ack = NatsAck { nats: self.nats.clone(), reply };
        Some(Retained { subject, body: message.payload.to_vec(), n_deliveries, ack })
    }
}

/// Returns the delivery count from an ack subject. Newer servers put two more tokens before it.
fn n_deliveries(reply: &str) -> Option<u64> {
    let words: Vec<&str> = reply.strip_prefix("$JS.ACK.")?.split('.').collect();
    let at = if words.len() <= 7 { 2 } else { 4 };
    words.get(at)?.parse().ok()
}

impl NatsAck {
    pub(crate) async fn ack(self) -> Result<(), BusError> {
        self.answer("+ACK".to_owned()).await
    }

    pub(crate) async fn nak(self, after: Duration) -> Result<(), BusError> {
        self.answer(format!("-NAK {}", json!({"delay": nanoseconds(after)}))).await
    }

    async fn answer(self, word: String) -> Result<(), BusError> {
        if !self.nats.is_up() {
            return Err(away("not connected to NATS"));
        }
        with_timeout(self.nats.client.publish(self.reply, word.into())).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delivery_count_is_parsed_from_ack_subjects() {
        assert_eq!(n_deliveries("$JS.ACK.STREAM.takers.3.10.11.1700000000.0"), Some(3));
        assert_eq!(n_deliveries("$JS.ACK._.HASH.STREAM.takers.3.10.11.1700000000.0.x"), Some(3));
        for nonsense in ["", "a.b", "$JS.ACK.", "$JS.ACK.a.b.c.d.e.f.g"] {
            assert_eq!(n_deliveries(nonsense), None, "{nonsense}");
        }
    }
}
