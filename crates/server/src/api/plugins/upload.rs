//! Bodies that are files: kept on disk while they come, and gone with the request.

use std::fs::File;
use std::io::{self, Seek as _, Write as _};

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request};
use stoker_packages::PluginsRoot;
use stoker_services::plugins::files::{aside, disk_failed};
use tokio::sync::mpsc;

use crate::http::body::{drain, next_frame, too_large};
use crate::http::error::{ApiError, ApiResult};
use crate::state::App;

/// Pieces that wait for the disk.
const PIECES_MAX: usize = 8;

/// A package as somebody sent it, to be read from its beginning; `None` if nothing was sent.
pub(crate) struct Upload(pub(crate) Option<File>);

impl FromRequest<App> for Upload {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        let bytes_max = app.settings.plugin_bytes_max;
        receive(request.into_body(), app.services.packages.root().clone(), bytes_max).await.map(Self)
    }
}

async fn receive(mut body: Body, root: PluginsRoot, bytes_max: u64) -> ApiResult<Option<File>> {
    let (sender, mut pieces) = mpsc::channel::<Bytes>(PIECES_MAX);
    let writing = tokio::spawn(aside(move || write(&root, || pieces.blocking_recv())));
    let mut n_bytes = 0;
    while let Some(frame) = next_frame(&mut body).await? {
        let frame = frame.map_err(|error| ApiError::bad_request(format!("the body broke off: {error}")))?;
        let Ok(data) = frame.into_data() else { continue };
        n_bytes += data.len() as u64;
        if n_bytes > bytes_max {
            drain(body).await;
            return Err(too_large(bytes_max));
        }
        if !data.is_empty() && sender.send(data).await.is_err() {
            // The disk has failed; the writer says how.
            break;
        }
    }
    drop(sender);
    let written = writing.await.map_err(|error| disk_failed(io::Error::other(error)))??;
    Ok(written.map_err(disk_failed)?)
}

fn write(root: &PluginsRoot, mut next: impl FnMut() -> Option<Bytes>) -> io::Result<Option<File>> {
    let Some(first) = next() else { return Ok(None) };
    let mut file = root.incoming()?;
    file.write_all(&first)?;
    while let Some(piece) = next() {
        file.write_all(&piece)?;
    }
    file.rewind()?;
    Ok(Some(file))
}
