//! Durable messages with acknowledgement.
//!
//! Once [`Bus::keep`](crate::Bus::keep) returns, the message survives both its sender and its receiver. It is
//! delivered to one of the consumers that share a name and redelivered until one of them acknowledges it: at
//! least once, in no guaranteed order. Messages beyond the maximum age or size are dropped, the oldest first,
//! so the bus must not hold the only copy of anything.

use std::time::Duration;

use crate::bus::BusError;
use crate::memory::{MemoryAck, MemoryConsumer};
use crate::nats::{NatsAck, NatsConsumer};
use crate::subject::{Subject, SubjectPattern};

/// Retention and delivery settings.
#[derive(Clone, Debug)]
pub struct StreamSettings {
    /// Stream name: one word.
    pub name: &'static str,
    pub subjects: SubjectPattern,
    /// Durable consumer name, shared by all consumers of the stream: one word.
    pub consumers: &'static str,
    pub bytes_max: u64,
    pub age_max: Duration,
    /// Deduplication window: a message whose id was stored within this time is dropped.
    pub dedup_window: Duration,
    /// Ack timeout before redelivery.
    pub ack_wait: Duration,
}

/// Consumer of durable messages. All consumers of a stream share its messages.
pub struct Consumer(pub(crate) ConsumerKind);

pub(crate) enum ConsumerKind {
    Memory(MemoryConsumer),
    Nats(Box<NatsConsumer>),
}

/// A delivered message. Dropping it without acknowledgement causes redelivery.
pub struct Delivery {
    pub subject: Subject,
    pub body: Vec<u8>,
    /// Delivery count, including this one.
    pub n_deliveries: u64,
    pub(crate) ack: Ack,
}

pub(crate) enum Ack {
    Memory(MemoryAck),
    Nats(NatsAck),
}

impl Consumer {
    /// Waits for the next message. After an error the consumer must be recreated: its stream may be gone.
    pub async fn next(&mut self) -> Result<Delivery, BusError> {
        match &mut self.0 {
            ConsumerKind::Memory(consumer) => Ok(consumer.next().await),
            ConsumerKind::Nats(consumer) => consumer.next().await,
        }
    }
}

impl Delivery {
    /// Acknowledges the message. If the acknowledgement is lost, the message is redelivered.
    pub async fn ack(self) -> Result<(), BusError> {
        match self.ack {
            Ack::Memory(ack) => {
                ack.ack();
                Ok(())
            }
            Ack::Nats(ack) => ack.ack().await,
        }
    }

    /// Negative acknowledgement: redeliver after a delay, to any consumer.
    pub async fn nak(self, after: Duration) -> Result<(), BusError> {
        match self.ack {
            Ack::Memory(ack) => {
                ack.nak(after);
                Ok(())
            }
            Ack::Nats(ack) => ack.nak(after).await,
        }
    }
}
