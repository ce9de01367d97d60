//! One face for all ways of delivery.

use crate::memory::Memory;
use crate::subject::{Pattern, Subject};
use crate::subscription::Subscription;

/// Why a message was not sent, or nobody listens.
#[derive(Debug, thiserror::Error)]
pub enum BusError {
    /// Passes by itself; whoever sends has another way, or says it again.
    #[error("the bus is away: {0}")]
    Away(String),
    #[error("a message of {n_bytes} bytes is too large")]
    TooLarge { n_bytes: usize },
}

/// Cloning is cheap; all clones are the same bus.
#[derive(Clone)]
pub enum Bus {
    Memory(Memory),
}

impl Bus {
    /// Sends to whoever listens now.
    pub async fn publish(&self, subject: &Subject, body: Vec<u8>) -> Result<(), BusError> {
        if body.len() > crate::BODY_BYTES_MAX {
            return Err(BusError::TooLarge { n_bytes: body.len() });
        }
        match self {
            Self::Memory(memory) => memory.publish(subject, body),
        }
    }

    /// Listens from now on, until the subscription is dropped.
    pub async fn subscribe(&self, pattern: &Pattern) -> Result<Subscription, BusError> {
        match self {
            Self::Memory(memory) => Ok(memory.subscribe(pattern)),
        }
    }

    /// Whether messages get through as far as is known.
    pub fn is_up(&self) -> bool {
        match self {
            Self::Memory(_) => true,
        }
    }
}
