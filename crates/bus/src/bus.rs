//! One face for all ways of delivery.

use crate::counts::BusStats;
use crate::kept::{KeepSettings, Keeper, KeeperKind};
use crate::memory::Memory;
use crate::nats::Nats;
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
    /// Waiting alone does not mend it.
    #[error("nothing is kept: {0}")]
    Unkept(String),
}

/// Cloning is cheap; all clones are the same bus.
#[derive(Clone)]
pub enum Bus {
    Memory(Memory),
    Nats(Nats),
}

impl Bus {
    /// Sends to whoever listens now.
    pub async fn publish(&self, subject: &Subject, body: Vec<u8>) -> Result<(), BusError> {
        self.publish_or_tell(subject, body, None).await
    }

    /// The same; where nobody listens an empty message goes to `told`.
    pub async fn publish_or_tell(
        &self,
        subject: &Subject,
        body: Vec<u8>,
        told: Option<&Subject>,
    ) -> Result<(), BusError> {
        if body.len() > crate::BODY_BYTES_MAX {
            return Err(BusError::TooLarge { n_bytes: body.len() });
        }
        match self {
            Self::Memory(memory) => {
                if let (0, Some(told)) = (memory.publish(subject, &body), told) {
                    memory.publish(told, &[]);
                }
                Ok(())
            }
            Self::Nats(nats) => nats.publish(subject, body, told).await,
        }
    }

    /// Listens from now on, until the subscription is dropped.
    pub async fn subscribe(&self, pattern: &Pattern) -> Result<Subscription, BusError> {
        match self {
            Self::Memory(memory) => Ok(memory.subscribe(pattern, None)),
            Self::Nats(nats) => nats.subscribe(pattern, None).await,
        }
    }

    /// The same, but each message goes to one of those who listen under the same name.
    pub async fn subscribe_shared(&self, pattern: &Pattern, group: &str) -> Result<Subscription, BusError> {
        match self {
            Self::Memory(memory) => Ok(memory.subscribe(pattern, Some(group))),
            Self::Nats(nats) => nats.subscribe(pattern, Some(group)).await,
        }
    }

    /// Returns when the message is safe with whoever keeps such messages; at once where one with the same id is.
    pub async fn keep(&self, subject: &Subject, id: &str, body: Vec<u8>) -> Result<(), BusError> {
        if body.len() > crate::BODY_BYTES_MAX {
            return Err(BusError::TooLarge { n_bytes: body.len() });
        }
        match self {
            Self::Memory(memory) if memory.keep(subject, id, &body) => Ok(()),
            Self::Memory(_) => Err(BusError::Unkept("nobody keeps such messages".to_owned())),
            Self::Nats(nats) => nats.keep(subject, id, body).await,
        }
    }

    /// Has such messages kept from now on, if that is not so already, and takes them.
    pub async fn keeper(&self, settings: &KeepSettings) -> Result<Keeper, BusError> {
        Ok(Keeper(match self {
            Self::Memory(memory) => KeeperKind::Memory(memory.keeper(settings)),
            Self::Nats(nats) => KeeperKind::Nats(Box::new(nats.keeper(settings).await?)),
        }))
    }

    /// Whether messages get through as far as is known.
    pub fn is_up(&self) -> bool {
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
