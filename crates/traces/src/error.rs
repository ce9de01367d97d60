//! Errors while starting the exporter.

use std::io;

use stoker_client::ClientError;
use thiserror::Error;

/// Error while starting the trace exporter.
#[derive(Debug, Error)]
pub enum TracerError {
    #[error(transparent)]
    Client(#[from] ClientError),
    #[error("cannot start the exporter: {0}")]
    Runtime(#[source] io::Error),
}
