//! Errors of starting the exporter.

use std::io;

use stoker_client::ClientError;
use thiserror::Error;

/// Why no spans can be exported.
#[derive(Debug, Error)]
pub enum TracerError {
    #[error(transparent)]
    Client(#[from] ClientError),
    #[error("cannot start the exporter: {0}")]
    Runtime(#[source] io::Error),
}
