//! What the implementations of durable messages share.

use std::time::Duration;

use crate::subject::{Pattern, Subject};

/// Retention and delivery settings.
#[derive(Clone, Debug)]
pub struct StreamSettings {
    /// Stream name: one word.
    pub name: &'static str,
    pub subjects: Pattern,
    /// Durable consumer name, shared by all consumers of the stream: one word.
    pub takers: &'static str,
    pub bytes_max: u64,
    pub age_max: Duration,
    /// Deduplication window: a message whose id was stored within this time is dropped.
    pub once_within: Duration,
    /// Ack timeout before redelivery.
    pub taken_for: Duration,
}

/// A message that its stream retains until `ack`, the handle of the implementation, acknowledges it.
pub(crate) struct Retained<A> {
    pub(crate) subject: Subject,
    pub(crate) body: Vec<u8>,
    /// Delivery count, including this one.
    pub(crate) n_times: u64,
    pub(crate) ack: A,
}
