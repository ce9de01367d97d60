//! HTTP POST requests to a server, one connection per request.
//!
//! `HttpPoster` of `stoker-client` does not fit: it reads no response body, but a join and a certificate are answers. It also resolves
//! and trusts hosts by itself, while these requests use the connection of an [`Endpoint`]: the same addresses, authority and client
//! certificate as the WebSocket.

use std::error::Error;
use std::time::Duration;

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper::{Request, StatusCode, header};
use hyper_util::rt::TokioIo;
use stoker_model::Json;

use crate::endpoint::{ConnectError, Endpoint};

/// Timeout for a request, including connecting.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum size of a response body. Responses are small JSON objects, well below this.
const RESPONSE_BYTES_MAX: usize = 64 << 10;

/// Result of a request.
#[derive(Debug)]
pub(crate) enum Reply {
    Success(Bytes),
    /// Transient failure: a retry may succeed.
    Unavailable(HttpError),
    /// Permanent failure, with the server's message.
    Refused(String),
}

/// Error of a request without a result.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error("no response within {} seconds", REQUEST_TIMEOUT.as_secs())]
    Timeout,
    #[error("invalid request")]
    Request(#[from] hyper::http::Error),
    #[error("HTTP exchange failed")]
    Exchange(#[from] hyper::Error),
    #[error("cannot read the response")]
    Body(#[source] Box<dyn Error + Send + Sync>),
    /// A server that is starting or overloaded (5xx, 429) has not evaluated the request.
    #[error("server responded with {0}")]
    Busy(StatusCode),
}

/// Posts a JSON body, with a bearer credential if one is given.
pub(crate) async fn post(endpoint: &Endpoint, path: &str, credential: Option<&str>, body: Vec<u8>) -> Reply {
    let request = tokio::time::timeout(REQUEST_TIMEOUT, send(endpoint, path, credential, body));
    let (status, body) = match request.await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => return Reply::Unavailable(error),
        Err(_) => return Reply::Unavailable(HttpError::Timeout),
    };
    if status.is_success() {
        return Reply::Success(body);
    }
    if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
        return Reply::Unavailable(HttpError::Busy(status));
    }
    let message = serde_json::from_slice::<Json>(&body).ok();
    let message = message.as_ref().and_then(|json| json.get("message")).and_then(Json::as_str);
    Reply::Refused(message.map_or_else(|| format!("server responded with {status}"), str::to_owned))
}

async fn send(
    endpoint: &Endpoint,
    path: &str,
    credential: Option<&str>,
    body: Vec<u8>,
) -> Result<(StatusCode, Bytes), HttpError> {
    let stream = endpoint.connect().await?;
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream));
    let (mut sender, connection) = handshake.await?;
    let connection_task = tokio::spawn(connection);
    let mut request = Request::post(endpoint.path(path))
        .header(header::HOST, endpoint.authority())
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, "application/json");
    if let Some(credential) = credential {
        request = request.header(header::AUTHORIZATION, format!("Bearer {credential}"));
    }
    let request = request.body(Full::new(Bytes::from(body)))?;
    let response = sender.send_request(request).await?;
    let status = response.status();
    let body = Limited::new(response.into_body(), RESPONSE_BYTES_MAX).collect().await;
    connection_task.abort();
    Ok((status, body.map_err(HttpError::Body)?.to_bytes()))
}
