//! What JetStream, the part of NATS that has a disk, keeps.
//!
//! A handful of its requests, asked like any other: a stream and a consumer of it are made, messages are asked for, and each
//! is answered. Whoever comes first makes both; somebody who has changed them since is not contradicted.

use std::time::Duration;

use async_nats::{HeaderMap, Request, RequestErrorKind, StatusCode, Subscriber};
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Nats, away, in_time};
use crate::bus::BusError;
use crate::kept::{KeepSettings, Kept, Receipt};
use crate::subject::Subject;

const ANSWER_TIME_MAX: Duration = Duration::from_secs(5);
/// Messages asked for at a time.
const BATCH: usize = 64;
/// A request for messages is over after this, and is made again.
const ASKED_FOR: Duration = Duration::from_secs(5);
/// After which NATS has said so, unless it has forgotten the request.
const SLACK: Duration = Duration::from_secs(3);
/// Those that come again later count.
const TAKEN_MAX: u32 = 20_000;
const NO_JETSTREAM: &str = "this NATS has no JetStream for us";

pub(crate) struct NatsKeeper {
    nats: Nats,
    stream: &'static str,
    takers: &'static str,
    inbox: Subscriber,
    reply: String,
    /// How many of those that were asked for have not come yet, and until when they may.
    n_asked: usize,
    deadline: Instant,
}

pub(crate) struct NatsReceipt {
    nats: Nats,
    reply: async_nats::Subject,
}

impl Nats {
    pub(crate) async fn keep(&self, subject: &Subject, id: &str, body: Vec<u8>) -> Result<(), BusError> {
        let mut headers = HeaderMap::new();
        headers.insert("Nats-Msg-Id", id);
        let request = Request::new().headers(headers).payload(body.into());
        self.ask(subject.as_str().to_owned(), request).await?;
        self.counts.published();
        Ok(())
    }

    pub(crate) async fn keeper(&self, settings: &KeepSettings) -> Result<NatsKeeper, BusError> {
        let KeepSettings { name, takers, .. } = *settings;
        let create = format!("STREAM.CREATE.{name}");
        self.ensure(create, &stream(settings), format!("STREAM.INFO.{name}")).await?;
        let create = format!("CONSUMER.DURABLE.CREATE.{name}.{takers}");
        self.ensure(create, &consumer(settings), format!("CONSUMER.INFO.{name}.{takers}")).await?;
        let reply = self.client.new_inbox();
        let inbox = in_time(self.client.subscribe(reply.clone())).await?;
        let nats = self.clone();
        Ok(NatsKeeper { nats, stream: name, takers, inbox, reply, n_asked: 0, deadline: Instant::now() })
    }

    /// Makes something, or finds it made.
    async fn ensure(&self, create: String, config: &Value, look: String) -> Result<(), BusError> {
        let Err(refused) = self.ask_api(create, config.to_string()).await else { return Ok(()) };
        self.ask_api(look, String::new()).await.map_err(|_| refused)
    }

    async fn ask_api(&self, what: String, body: String) -> Result<(), BusError> {
        self.ask(format!("$JS.API.{what}"), Request::new().payload(body.into())).await
    }

    /// Of the server that this connection goes to; another one of the same cluster may answer for it.
    fn has_jetstream(&self) -> bool {
        self.client.try_server_info().is_some_and(|info| info.jetstream)
    }

    async fn ask(&self, subject: String, request: Request) -> Result<(), BusError> {
        if !self.is_up() {
            return Err(away("there is no connection"));
        }
        let request = request.timeout(Some(ANSWER_TIME_MAX));
        let answer =
            self.client.send_request(subject, request).await.map_err(|error| match error.kind() {
                RequestErrorKind::NoResponders => BusError::Unkept(NO_JETSTREAM.to_owned()),
                // Where the account is allowed what the server cannot do, nobody answers at all.
                RequestErrorKind::TimedOut if !self.has_jetstream() => {
                    BusError::Unkept(NO_JETSTREAM.to_owned())
                }
                RequestErrorKind::TimedOut => away("it does not answer"),
                _ => away(&error.to_string()),
            })?;
        let answer: Value = serde_json::from_slice(&answer.payload).unwrap_or_default();
        match answer.get("error") {
            None => Ok(()),
            Some(error) => {
                let said = error.get("description").and_then(Value::as_str).unwrap_or("it does not say why");
                Err(BusError::Unkept(said.to_owned()))
            }
        }
    }
}

fn stream(settings: &KeepSettings) -> Value {
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
        "duplicate_window": nanoseconds(settings.once_within),
    })
}

fn consumer(settings: &KeepSettings) -> Value {
    json!({
        "stream_name": settings.name,
        "config": {
            "durable_name": settings.takers,
            "deliver_policy": "all",
            "replay_policy": "instant",
            "ack_policy": "explicit",
            "ack_wait": nanoseconds(settings.taken_for),
            "max_deliver": -1,
            "max_ack_pending": TAKEN_MAX,
        },
    })
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl NatsKeeper {
    pub(crate) async fn next(&mut self) -> Result<Kept, BusError> {
        loop {
            if self.n_asked == 0 {
                self.ask_more().await?;
            }
            let Ok(message) = tokio::time::timeout_at(self.deadline, self.inbox.next()).await else {
                self.n_asked = 0;
                // Still there? A connection that was lost took the request with it, and perhaps there is nothing to ask.
                let look = format!("CONSUMER.INFO.{}.{}", self.stream, self.takers);
                self.nats.ask_api(look, String::new()).await?;
                continue;
            };
            let message = message.ok_or_else(|| away("the connection is gone"))?;
            match message.status {
                None => {
                    self.n_asked -= 1;
                    if let Some(kept) = self.taken(message) {
                        self.nats.counts.received();
                        return Ok(kept);
                    }
                }
                // There were none, or fewer.
                Some(StatusCode::TIMEOUT | StatusCode::NOT_FOUND) => self.n_asked = 0,
                Some(status) => {
                    let said = message.description.unwrap_or_else(|| status.to_string());
                    return Err(BusError::Unkept(said));
                }
            }
        }
    }

    async fn ask_more(&mut self) -> Result<(), BusError> {
        if !self.nats.is_up() {
            return Err(away("there is no connection"));
        }
        let subject = format!("$JS.API.CONSUMER.MSG.NEXT.{}.{}", self.stream, self.takers);
        let body = json!({"batch": BATCH, "expires": nanoseconds(ASKED_FOR)}).to_string();
        in_time(self.nats.client.publish_with_reply(subject, self.reply.clone(), body.into())).await?;
        self.n_asked = BATCH;
        self.deadline = Instant::now() + ASKED_FOR + SLACK;
        Ok(())
    }

    /// `None`: whoever else uses the same NATS has sent something that is none of ours.
    fn taken(&self, message: async_nats::Message) -> Option<Kept> {
        let reply = message.reply?;
        let subject = Subject::new(message.subject.as_str().split('.')).ok()?;
        let n_times = n_deliveries(reply.as_str())?;
        let receipt = Receipt::Nats(NatsReceipt { nats: self.nats.clone(), reply });
        Some(Kept { subject, body: message.payload.to_vec(), n_times, receipt })
    }
}

/// The words of where an answer goes say how often a message was sent; newer servers have two more words before that.
fn n_deliveries(reply: &str) -> Option<u64> {
    let words: Vec<&str> = reply.strip_prefix("$JS.ACK.")?.split('.').collect();
    let at = if words.len() <= 7 { 2 } else { 4 };
    words.get(at)?.parse().ok()
}

impl NatsReceipt {
    pub(crate) async fn done(self) -> Result<(), BusError> {
        self.answer("+ACK".to_owned()).await
    }

    pub(crate) async fn again(self, after: Duration) -> Result<(), BusError> {
        self.answer(format!("-NAK {}", json!({"delay": nanoseconds(after)}))).await
    }

    async fn answer(self, word: String) -> Result<(), BusError> {
        if !self.nats.is_up() {
            return Err(away("there is no connection"));
        }
        in_time(self.nats.client.publish(self.reply, word.into())).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_deliveries_is_read_from_old_and_new_replies() {
        assert_eq!(n_deliveries("$JS.ACK.STREAM.takers.3.10.11.1700000000.0"), Some(3));
        assert_eq!(n_deliveries("$JS.ACK._.HASH.STREAM.takers.3.10.11.1700000000.0.x"), Some(3));
        for nonsense in ["", "a.b", "$JS.ACK.", "$JS.ACK.a.b.c.d.e.f.g"] {
            assert_eq!(n_deliveries(nonsense), None, "{nonsense}");
        }
    }
}
