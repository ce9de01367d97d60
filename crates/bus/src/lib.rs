//! Messages between servers, and between servers and agents: a doorbell and a pipe, never the truth.
//!
//! A message reaches whoever listens at the moment, at most once, in the order in which one sender sent it. Nobody may
//! depend on more: what matters is in the store, or is said again. What must survive whoever says it can be kept besides,
//! until somebody has dealt with it. Knows nothing of what it carries.

mod bus;
mod counts;
mod kept;
mod memory;
pub mod nats;
mod pipe;
mod subject;
mod subscription;

pub use bus::{Bus, BusError};
pub use counts::BusStats;
pub use kept::{KeepSettings, Keeper, Kept};
pub use memory::Memory;
pub use nats::{Nats, NatsAuth, NatsError, NatsOptions, UserKeys};
pub use pipe::{Pipe, PipeEnded, PipeSettings};
pub use subject::{Pattern, Subject, SubjectError};
pub use subscription::{Message, Subscription};

/// Messages that wait for a slow listener. What comes then is lost, and counted.
pub const WAITING_MAX: usize = 65_536;
/// The largest body: what NATS takes where nobody has changed its settings.
pub const BODY_BYTES_MAX: usize = 1 << 20;
