//! Messages between servers, and between servers and agents.
//!
//! Publish/subscribe is at most once, to the current subscribers, in the order of one sender. Callers must
//! not depend on more: the source of truth is the store, and lost messages are resent. Messages that must
//! survive their sender can be stored durably until they are acknowledged. The bus does not interpret message
//! bodies.

mod bus;
mod counts;
mod durable;
mod error;
mod memory;
pub mod nats;
mod pipe;
mod retained;
mod subject;
mod subscription;

pub use bus::Bus;
pub use counts::BusStats;
pub use durable::{Consumer, Delivery};
pub use error::BusError;
pub use memory::MemoryBus;
pub use nats::{NatsAuth, NatsBus, NatsError, NatsOptions, UserKeys};
pub use pipe::{Pipe, PipeClosed, PipeSettings};
pub use retained::StreamSettings;
pub use subject::{Subject, SubjectError, SubjectPattern};
pub use subscription::{Message, Subscription};

/// Maximum number of messages buffered for a slow subscriber. Further messages are dropped and counted.
pub const SUBSCRIBER_BUFFER_MAX: usize = 65_536;
/// Maximum body size: the default limit of NATS.
pub const BODY_BYTES_MAX: usize = 1 << 20;
