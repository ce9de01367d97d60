//! Durable messages with acknowledgement.
//!
//! Once [`Bus::publish_durable`](crate::Bus::publish_durable) returns, the message survives both its sender and its receiver. It is
//! delivered to one of the consumers that share a name and redelivered until one of them acknowledges it: at
//! least once, in no guaranteed order. Messages beyond the maximum age or size are dropped, the oldest first,
//! so the bus must not hold the only copy of anything.

use std::time::Duration;

use crate::error::BusError;
use crate::memory::{MemoryAck, MemoryConsumer};
use crate::nats::{NatsAck, NatsConsumer};
use crate::retained::Retained;
use crate::subject::Subject;

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
    /// Number of deliveries of the message, including the current one.
    pub n_deliveries: u64,
    ack: Ack,
}

enum Ack {
    Memory(MemoryAck),
    Nats(NatsAck),
}

impl Consumer {
    /// Waits for the next message. After an error the consumer must be recreated: its stream may be gone.
    pub async fn next(&mut self) -> Result<Delivery, BusError> {
        match &mut self.0 {
            ConsumerKind::Memory(consumer) => Ok(Delivery::new(consumer.next().await, Ack::Memory)),
            ConsumerKind::Nats(consumer) => Ok(Delivery::new(consumer.next().await?, Ack::Nats)),
        }
    }
}

impl Delivery {
    fn new<A>(retained: Retained<A>, ack: impl FnOnce(A) -> Ack) -> Self {
        let Retained { subject, body, n_deliveries, ack: inner } = retained;
        Self { subject, body, n_deliveries, ack: ack(inner) }
    }

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

    /// Sends a negative acknowledgement: the message is redelivered after a delay, to any consumer.
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
