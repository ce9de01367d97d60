//! Messages that are kept until somebody has dealt with them.
//!
//! Whoever keeps one knows, once that is answered, that it outlives both ends. It is taken by one of all who share a
//! keeper, and comes again until one of them says that it is done: at least once, and in no order that anybody may depend
//! on. What is too old, or too much, is dropped, the oldest first: the bus is a second keeper, never the only one.

use std::time::Duration;

use crate::bus::BusError;
use crate::memory::{MemoryKeeper, MemoryReceipt};
use crate::nats::{NatsKeeper, NatsReceipt};
use crate::subject::{Pattern, Subject};

/// What is kept, and for how long.
#[derive(Clone, Debug)]
pub struct KeepSettings {
    /// Of all that is kept together: one word.
    pub name: &'static str,
    pub subjects: Pattern,
    /// The name under which those who take it share it: one word.
    pub takers: &'static str,
    pub bytes_max: u64,
    pub age_max: Duration,
    /// What has an id that was kept within this time is not kept again.
    pub once_within: Duration,
    /// One that was taken and is not done after this comes again.
    pub taken_for: Duration,
}

/// Takes what is kept. Whoever has one shares the messages with all others.
pub struct Keeper(pub(crate) KeeperKind);

pub(crate) enum KeeperKind {
    Memory(MemoryKeeper),
    Nats(Box<NatsKeeper>),
}

/// A message that was taken. Dropped without a word, it comes again.
pub struct Kept {
    pub subject: Subject,
    pub body: Vec<u8>,
    /// How often it was taken, this time included.
    pub n_times: u64,
    pub(crate) receipt: Receipt,
}

pub(crate) enum Receipt {
    Memory(MemoryReceipt),
    Nats(NatsReceipt),
}

impl Keeper {
    /// Waits for the next one. After an error another keeper has to be made: what this one took from may be gone.
    pub async fn next(&mut self) -> Result<Kept, BusError> {
        match &mut self.0 {
            KeeperKind::Memory(keeper) => Ok(keeper.next().await),
            KeeperKind::Nats(keeper) => keeper.next().await,
        }
    }
}

impl Kept {
    /// It need not be kept any longer. Where that is not heard it comes again.
    pub async fn done(self) -> Result<(), BusError> {
        match self.receipt {
            Receipt::Memory(receipt) => {
                receipt.done();
                Ok(())
            }
            Receipt::Nats(receipt) => receipt.done().await,
        }
    }

    /// It is to come again after that long, to whoever takes it then.
    pub async fn again(self, after: Duration) -> Result<(), BusError> {
        match self.receipt {
            Receipt::Memory(receipt) => {
                receipt.again(after);
                Ok(())
            }
            Receipt::Nats(receipt) => receipt.again(after).await,
        }
    }
}
