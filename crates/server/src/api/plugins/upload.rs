//! Uploaded files: the body is streamed to a temporary file, which is deleted with the request.

use std::fs::File;
use std::io::{self, Seek as _, Write as _};

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request};
use stoker_packages::PluginsRoot;
use stoker_services::plugins::files::{io_error, spawn_blocking_io};
use tokio::sync::mpsc;

use crate::http::body::{drain, next_frame, too_large};
use crate::http::error::{ApiError, ApiResult};
use crate::state::App;

/// Maximum number of chunks in memory that are not yet written, for back-pressure on the client.
const CHUNKS_MAX: usize = 8;

/// Uploaded package, positioned at its start; `None` if the body is empty.
pub(crate) struct Upload(pub(crate) Option<File>);

impl FromRequest<App> for Upload {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        let bytes_max = app.settings.plugin_bytes_max;
        receive(request.into_body(), app.services.packages.root().clone(), bytes_max).await.map(Self)
    }
}

async fn receive(mut body: Body, root: PluginsRoot, bytes_max: u64) -> ApiResult<Option<File>> {
    let (sender, mut chunks) = mpsc::channel::<Bytes>(CHUNKS_MAX);
    let writing = tokio::spawn(spawn_blocking_io(move || write(&root, || chunks.blocking_recv())));
    let mut n_bytes = 0;
    while let Some(frame) = next_frame(&mut body).await? {
        let frame = frame.map_err(|error| ApiError::bad_request(format!("cannot read the body: {error}")))?;
        let Ok(data) = frame.into_data() else { continue };
        n_bytes += data.len() as u64;
        if n_bytes > bytes_max {
            drain(body).await;
            return Err(too_large(bytes_max));
        }
        if !data.is_empty() && sender.send(data).await.is_err() {
            // A write failed, and the writer returns the error.
            break;
        }
    }
    drop(sender);
    let written = writing.await.map_err(|error| io_error(io::Error::other(error)))??;
    Ok(written.map_err(io_error)?)
}

fn write(root: &PluginsRoot, mut next: impl FnMut() -> Option<Bytes>) -> io::Result<Option<File>> {
    let Some(first) = next() else { return Ok(None) };
    let mut file = root.temporary_file()?;
    file.write_all(&first)?;
    while let Some(chunk) = next() {
        file.write_all(&chunk)?;
    }
    file.rewind()?;
    Ok(Some(file))
}
