//! Delivery inside of one process.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use crate::WAITING_MAX;
use crate::bus::BusError;
use crate::subject::{Pattern, Subject};
use crate::subscription::{Message, Subscription};

#[derive(Clone, Default)]
pub struct Memory {
    listeners: Arc<Mutex<Vec<(Pattern, mpsc::Sender<Message>)>>>,
}

impl Memory {
    pub(crate) fn publish(&self, subject: &Subject, body: Vec<u8>) -> Result<(), BusError> {
        let mut listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|(pattern, sender)| {
            if !pattern.matches(subject) {
                return !sender.is_closed();
            }
            // Who is too slow misses it, as with any other bus.
            let message = Message { subject: subject.clone(), body: body.clone() };
            !matches!(sender.try_send(message), Err(TrySendError::Closed(_)))
        });
        Ok(())
    }

    pub(crate) fn subscribe(&self, pattern: &Pattern) -> Subscription {
        let (sender, messages) = mpsc::channel(WAITING_MAX);
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner).push((pattern.clone(), sender));
        Subscription { messages }
    }
}
