//! Interface of the bus, independent of the transport.

use crate::counts::BusStats;
use crate::durable::{Consumer, ConsumerKind};
use crate::error::BusError;
use crate::memory::MemoryBus;
use crate::nats::NatsBus;
use crate::retained::StreamSettings;
use crate::subject::{Subject, SubjectPattern};
use crate::subscription::Subscription;

/// Clones share the same bus.
#[derive(Clone)]
pub enum Bus {
    Memory(MemoryBus),
    Nats(NatsBus),
}

impl Bus {
    /// Publishes to the current subscribers, at most once.
    pub async fn publish(&self, subject: &Subject, body: Vec<u8>) -> Result<(), BusError> {
        self.publish_with_no_subscriber_reply(subject, body, None).await
    }

    /// Like [`Bus::publish`]. If there is no subscriber, an empty message is sent to `no_subscriber_reply`.
    pub async fn publish_with_no_subscriber_reply(
        &self,
        subject: &Subject,
        body: Vec<u8>,
        no_subscriber_reply: Option<&Subject>,
    ) -> Result<(), BusError> {
        if body.len() > crate::BODY_BYTES_MAX {
            return Err(BusError::TooLarge { n_bytes: body.len() });
        }
        match self {
            Self::Memory(memory) => {
                if let (0, Some(no_subscriber_reply)) = (memory.publish(subject, &body), no_subscriber_reply)
                {
                    memory.publish(no_subscriber_reply, &[]);
                }
                Ok(())
            }
            Self::Nats(nats) => nats.publish(subject, body, no_subscriber_reply).await,
        }
    }

    /// Subscribes until the subscription is dropped.
    pub async fn subscribe(&self, pattern: &SubjectPattern) -> Result<Subscription, BusError> {
        match self {
            Self::Memory(memory) => Ok(memory.subscribe(pattern, None)),
            Self::Nats(nats) => nats.subscribe(pattern, None).await,
        }
    }

    /// Subscribes as a member of a queue group: each message goes to one member.
    pub async fn subscribe_shared(
        &self,
        pattern: &SubjectPattern,
        group: &str,
    ) -> Result<Subscription, BusError> {
        match self {
            Self::Memory(memory) => Ok(memory.subscribe(pattern, Some(group))),
            Self::Nats(nats) => nats.subscribe(pattern, Some(group)).await,
        }
    }

    /// Publishes a durable message. Returns once the message is stored; duplicates by `id` within the
    /// deduplication window are dropped.
    pub async fn publish_durable(&self, subject: &Subject, id: &str, body: Vec<u8>) -> Result<(), BusError> {
        if body.len() > crate::BODY_BYTES_MAX {
            return Err(BusError::TooLarge { n_bytes: body.len() });
        }
        match self {
            Self::Memory(memory) if memory.store(subject, id, &body) => Ok(()),
            Self::Memory(_) => {
                Err(BusError::DurableUnavailable("no stream stores messages of this subject".to_owned()))
            }
            Self::Nats(nats) => nats.store(subject, id, body).await,
        }
    }

    /// Creates the stream and consumer if they do not exist, and consumes its messages.
    pub async fn consumer(&self, settings: &StreamSettings) -> Result<Consumer, BusError> {
        Ok(Consumer(match self {
            Self::Memory(memory) => ConsumerKind::Memory(memory.consumer(settings)),
            Self::Nats(nats) => ConsumerKind::Nats(Box::new(nats.consumer(settings).await?)),
        }))
    }

    /// Reports whether the bus is connected, as far as is known.
    pub fn is_connected(&self) -> bool {
        match self {
            Self::Memory(_) => true,
            Self::Nats(nats) => nats.is_up(),
        }
    }

    pub fn stats(&self) -> BusStats {
        match self {
            Self::Memory(memory) => memory.stats(),
            Self::Nats(nats) => nats.stats(),
        }
    }
}
