//! Errors of every transport.

pub(crate) type BoxedError = Box<dyn std::error::Error + Send + Sync>;

/// Error while sending a message or subscribing.
#[derive(Debug, thiserror::Error)]
pub enum BusError {
    /// Transient: the bus reconnects by itself. The sender uses another transport or retries.
    #[error("the bus is unavailable: {0}")]
    Unavailable(#[source] BoxedError),
    #[error("message of {n_bytes} bytes is too large")]
    TooLarge { n_bytes: usize },
    /// Durable delivery is not available. Permanent until an operator changes the configuration.
    #[error("durable delivery is unavailable: {0}")]
    DurableUnavailable(String),
}
