//! HTTP POST to third-party receivers, such as webhooks and trace collectors.

use std::error::Error;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::http::uri::Scheme;
use hyper::http::{HeaderName, HeaderValue};
use hyper::{Request, StatusCode, Uri, header};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::ServerName;
use stoker_model::ErrorChain;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;
use tower::Service;

use crate::error::ClientError;
use crate::tls;

/// Maximum time for name resolution, connection and TLS handshake, so that an unreachable receiver is
/// reported before the total timeout.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(5);
/// Maximum size of the status line and headers of a response. Bodies are not read.
const HEAD_BYTES_MAX: usize = 16 << 10;

/// Posts documents to URLs chosen by users: follows no redirects, uses no proxy, reads only the response
/// status, and applies one timeout to the whole request. Dropping the future of a request closes its
/// connection.
#[derive(Clone)]
pub struct HttpPoster {
    client: Client<Connector, Full<Bytes>>,
    time_max: Duration,
}

/// Error of a document that was not delivered.
#[derive(Debug, thiserror::Error)]
pub enum PostError {
    #[error("the URL or a header is invalid: {0}")]
    Request(#[source] hyper::http::Error),
    #[error("the URL has no host or is neither http nor https")]
    Url,
    #[error("no response from {receiver} within {time_max:?}: timeout")]
    Timeout { receiver: String, time_max: Duration },
    #[error("cannot reach {receiver}: {}", ErrorChain(source))]
    Unreachable { receiver: String, source: hyper_util::client::legacy::Error },
}

impl HttpPoster {
    /// Creates a poster. `time_max` covers the whole request, from name resolution to the response status.
    pub fn new(time_max: Duration) -> Result<Self, ClientError> {
        Self::with_ca_file(time_max, None)
    }

    /// Like [`HttpPoster::new`], with the certificates of a file trusted in addition to those of the system.
    pub fn with_ca_file(time_max: Duration, ca_file: Option<&Path>) -> Result<Self, ClientError> {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        let connector = Connector {
            tcp,
            tls: TlsConnector::from(tls::client_config(ca_file)?),
            time_max: time_max.min(CONNECT_TIME_MAX),
        };
        let client = Client::builder(TokioExecutor::new())
            // Messages are rare, and a stale connection to a restarted receiver would lose one.
            .pool_max_idle_per_host(0)
            .http1_max_buf_size(HEAD_BYTES_MAX)
            .build(connector);
        Ok(Self { client, time_max })
    }

    /// Returns the response status. The content type is JSON unless a header overrides it.
    pub async fn post(
        &self,
        url: &str,
        headers: &[(&str, String)],
        body: Vec<u8>,
    ) -> Result<StatusCode, PostError> {
        let uri: Uri = url.parse().map_err(|error| PostError::Request(hyper::http::Error::from(error)))?;
        let is_http = uri.scheme().is_some_and(|scheme| *scheme == Scheme::HTTP || *scheme == Scheme::HTTPS);
        if !is_http || uri.host().is_none_or(str::is_empty) {
            return Err(PostError::Url);
        }
        let receiver = redact(&uri);
        let request = request(uri, headers, body).map_err(PostError::Request)?;
        match tokio::time::timeout(self.time_max, self.client.request(request)).await {
            Ok(Ok(response)) => Ok(response.status()),
            Ok(Err(source)) => Err(PostError::Unreachable { receiver, source }),
            Err(_) => Err(PostError::Timeout { receiver, time_max: self.time_max }),
        }
    }
}

fn request(
    uri: Uri,
    headers: &[(&str, String)],
    body: Vec<u8>,
) -> Result<Request<Full<Bytes>>, hyper::http::Error> {
    let credentials = uri.authority().and_then(|authority| authority.as_str().rsplit_once('@'));
    let authorization =
        credentials.map(|(credentials, _)| format!("Basic {}", BASE64_STANDARD.encode(credentials)));
    let mut request = Request::post(uri)
        .header(header::USER_AGENT, concat!("stoker/", env!("CARGO_PKG_VERSION")))
        .header(header::CONTENT_TYPE, "application/json");
    if let Some(authorization) = authorization {
        request = request.header(header::AUTHORIZATION, authorization);
    }
    let mut request = request.body(Full::new(Bytes::from(body)))?;
    for (name, value) in headers {
        request.headers_mut().insert(HeaderName::from_bytes(name.as_bytes())?, HeaderValue::from_str(value)?);
    }
    Ok(request)
}

/// Returns the URL without credentials and query, which may contain secrets.
fn redact(uri: &Uri) -> String {
    let scheme = uri.scheme_str().unwrap_or_default();
    let port = uri.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{scheme}://{}{port}{}", uri.host().unwrap_or_default(), uri.path())
}

/// Connects over TCP, and over TLS for `https`.
#[derive(Clone)]
struct Connector {
    tcp: HttpConnector,
    tls: TlsConnector,
    time_max: Duration,
}

type ConnectError = Box<dyn Error + Send + Sync>;

impl Connector {
    async fn connect(mut self, uri: Uri) -> Result<TokioIo<Box<dyn Stream>>, ConnectError> {
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let is_encrypted = uri.scheme() == Some(&Scheme::HTTPS);
        let stream = self.tcp.call(uri).await?.into_inner();
        if !is_encrypted {
            return Ok(TokioIo::new(Box::new(stream)));
        }
        let stream = self.tls.connect(ServerName::try_from(host)?, stream).await?;
        Ok(TokioIo::new(Box::new(stream)))
    }
}

impl Service<Uri> for Connector {
    type Response = TokioIo<Box<dyn Stream>>;
    type Error = ConnectError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, ConnectError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), ConnectError>> {
        self.tcp.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let (connector, time_max) = (self.clone(), self.time_max);
        Box::pin(async move {
            let connected = tokio::time::timeout(time_max, connector.connect(uri)).await;
            connected.unwrap_or_else(|_| {
                let message = format!("no connection within {time_max:?}");
                Err(io::Error::new(io::ErrorKind::TimedOut, message).into())
            })
        })
    }
}

/// A connection, encrypted or not.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

impl Connection for Box<dyn Stream> {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}
