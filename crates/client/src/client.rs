//! Sends requests and reads responses.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use serde_json::Value as Json;
use ureq::http::{self, header};
use ureq::{Agent, AsSendBody, Proxy};

use crate::address::Address;
use crate::error::{ClientError, ErrorResponse};
use crate::request::{Body, RestRequest};
use crate::tls;
use crate::token::ApiToken;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Response timeout. Planning for thousands of nodes may take minutes.
const RESPONSE_TIMEOUT: Duration = Duration::from_mins(10);
/// Read timeout of event streams, which send keep-alives.
const STREAM_READ_TIMEOUT: Duration = Duration::from_mins(1);
const BODY_BYTES_MAX: u64 = 1 << 30;
const ERROR_BYTES_MAX: u64 = 4 << 20;

/// Client of one server, with an optional token.
#[derive(Clone)]
pub struct Client {
    agent: Agent,
    address: Address,
    token: Option<ApiToken>,
}

/// A successful response.
#[derive(Clone, Debug)]
pub struct Response {
    pub status: u16,
    pub content_type: String,
    /// Total number of items, for a paginated list.
    pub total: Option<u64>,
    /// Server time from the `Date` header.
    pub date: Option<String>,
    pub bytes: Vec<u8>,
    server: String,
}

impl Response {
    /// Parses the body; an empty body is null.
    pub fn json(&self) -> Result<Json, ClientError> {
        if self.bytes.is_empty() {
            return Ok(Json::Null);
        }
        serde_json::from_slice(&self.bytes).map_err(|error| ClientError::InvalidResponse {
            server: self.server.clone(),
            why: format!("its response is not JSON ({error})"),
        })
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

impl Client {
    /// Creates an unauthenticated client. `ca_file` contains certificates to trust in addition to those of
    /// the system.
    pub fn new(address: Address, ca_file: Option<&Path>) -> Result<Self, ClientError> {
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            // A redirect could leak the token to another server.
            .max_redirects(0)
            .user_agent(concat!("stoker/", env!("CARGO_PKG_VERSION")))
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .timeout_recv_response(Some(RESPONSE_TIMEOUT))
            .proxy(if address.is_local() { None } else { Proxy::try_from_env() });
        if address.is_secure() {
            config = config.tls_config(tls::config(ca_file)?);
        }
        Ok(Self { agent: config.build().into(), address, token: None })
    }

    pub fn with_token(self, token: Option<ApiToken>) -> Self {
        Self { token, ..self }
    }

    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Sends a request and reads the whole response.
    pub fn send(&self, request: &RestRequest<'_>) -> Result<Response, ClientError> {
        let mut response = self.open(request)?;
        let header_text = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
        let content_type = header_text(header::CONTENT_TYPE).unwrap_or_default().to_owned();
        let total =
            header_text(header::CONTENT_RANGE).and_then(|range| range.rsplit_once('/')?.1.parse().ok());
        let date = header_text(header::DATE).map(str::to_owned);
        let status = response.status().as_u16();
        let bytes = response.body_mut().with_config().limit(BODY_BYTES_MAX).read_to_vec();
        let bytes = bytes.map_err(|error| self.unreachable(error))?;
        Ok(Response { status, content_type, total, date, bytes, server: self.address.to_string() })
    }

    /// Sends a request and parses the response as JSON.
    pub fn json(&self, request: &RestRequest<'_>) -> Result<Json, ClientError> {
        self.send(request)?.json()
    }

    /// Sends a request. Returns a successful response with an unread body.
    pub(crate) fn open(&self, request: &RestRequest<'_>) -> Result<http::Response<ureq::Body>, ClientError> {
        let (kind, content) = content(&request.body);
        let mut builder = ureq::http::Request::builder()
            .method(request.method.as_str())
            .uri(format!("{}{}", self.address, request.path_and_query()))
            .header(header::ACCEPT, request.accept);
        if let Some(kind) = &kind {
            builder = builder.header(header::CONTENT_TYPE, kind);
        }
        for (name, value) in &request.headers {
            builder = builder.header(*name, *value);
        }
        if let Some(token) = &self.token {
            builder = builder.header("x-auth-token", token.reveal());
        }
        let read_timeout = if request.is_stream() { STREAM_READ_TIMEOUT } else { RESPONSE_TIMEOUT };
        let sent = match content {
            Content::Bytes(bytes) => builder.body(bytes).map(|request| self.run(request, read_timeout)),
            Content::File(file) => builder.body(file).map(|request| self.run(request, read_timeout)),
            Content::Nothing => builder.body(()).map(|request| self.run(request, read_timeout)),
        };
        let sent = sent.map_err(|error| ClientError::InvalidResponse {
            server: self.address.to_string(),
            why: format!("invalid request for `{}` ({error})", request.path),
        })?;
        let mut response = sent.map_err(|error| self.unreachable(error))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let body = response.body_mut().with_config().limit(ERROR_BYTES_MAX).read_to_vec().unwrap_or_default();
        if status.is_redirection() {
            let why = format!("it responds with a redirect (status {})", status.as_u16());
            return Err(ClientError::InvalidResponse { server: self.address.to_string(), why });
        }
        Err(ClientError::Rejected(Box::new(ErrorResponse::read(status.as_u16(), &body))))
    }

    fn run(
        &self,
        request: ureq::http::Request<impl AsSendBody>,
        read_timeout: Duration,
    ) -> Result<http::Response<ureq::Body>, ureq::Error> {
        let request = self.agent.configure_request(request).timeout_per_read(Some(read_timeout)).build();
        self.agent.run(request)
    }

    /// Reports the underlying I/O error itself: `ureq` prefixes it with `io:`.
    fn unreachable(&self, error: ureq::Error) -> ClientError {
        match error {
            ureq::Error::Io(error) => self.interrupted(error),
            error => ClientError::Unreachable { server: self.address.to_string(), source: Box::new(error) },
        }
    }

    /// Returns the error for a connection that failed while the response was read.
    pub(crate) fn interrupted(&self, error: std::io::Error) -> ClientError {
        ClientError::Unreachable { server: self.address.to_string(), source: Box::new(error) }
    }
}

/// Request body on the wire.
enum Content<'a> {
    Nothing,
    Bytes(Vec<u8>),
    File(&'a File),
}

fn content<'a>(body: &Body<'a>) -> (Option<String>, Content<'a>) {
    let (kind, content) = match body {
        Body::Nothing => return (None, Content::Nothing),
        Body::Json(json) => ("application/json", Content::Bytes(json.to_string().into_bytes())),
        Body::Yaml(text) => ("application/x-yaml", Content::Bytes(text.as_bytes().to_vec())),
        Body::JsonText(text) => ("application/json", Content::Bytes(text.as_bytes().to_vec())),
        Body::Bytes(kind, bytes) => (*kind, Content::Bytes(bytes.to_vec())),
        Body::File(kind, file) => (*kind, Content::File(file)),
    };
    (Some(kind.to_owned()), content)
}
