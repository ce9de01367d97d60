//! Types shared by the implementations of durable messages.

use std::time::Duration;

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

/// A message that its stream retains until `ack`, the handle of the implementation, acknowledges it.
pub(crate) struct Retained<A> {
    pub(crate) subject: Subject,
    pub(crate) body: Vec<u8>,
    /// Number of deliveries of the message, including the current one.
    pub(crate) n_deliveries: u64,
    pub(crate) ack: A,
}
