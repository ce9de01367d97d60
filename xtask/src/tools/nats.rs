//! NATS, which tests and the cluster demo start as a private server.

use super::debian;
use crate::failure::Outcome;

/// Installs the server program unless it is there.
pub(crate) fn ensure() -> Outcome {
    debian::ensure("nats-server", &debian::NATS)
}
