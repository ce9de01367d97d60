//! WebSocket transport: outbound, one port, works through HTTP proxies.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use stoker_engine::session::{FromAgent, ToAgent};
use stoker_model::ErrorChain;
use stoker_wire::join::SESSION_PATH;
use stoker_wire::{Decoded, TO_AGENT_BYTES_MAX, decode_refusal, decode_to_agent, encode_from_agent};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::{HeaderValue, StatusCode, header};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};

use super::{Connecting, Connection, QUEUE, Transport, TransportError};
use crate::certificates::Certificates;
use crate::endpoint::{ConnectError, Endpoint, Stream};

/// Timeout for the WebSocket handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(15);

/// Interval between pings. A connection counts as dead if no data, not even a pong, arrives for
/// `SILENCE_MAX`, or if a send blocks that long. `SILENCE_MAX` exceeds two ping intervals, so that a slow
/// server is not mistaken for a dead one: every reconnect resends all state.
const PING_EVERY: Duration = Duration::from_secs(10);
const SILENCE_MAX: Duration = Duration::from_secs(25);

/// Authenticates with the agent's credential.
pub struct WebSocketTransport {
    endpoint: Endpoint,
    credential: String,
    certificates: Option<Arc<Certificates>>,
}

impl WebSocketTransport {
    pub fn new(endpoint: Endpoint, credential: String) -> Self {
        Self { endpoint, credential, certificates: None }
    }

    /// Adds a client certificate, for servers that require one.
    pub(crate) fn with_certificates(self, certificates: Arc<Certificates>) -> Self {
        Self { certificates: Some(certificates), ..self }
    }

    async fn open(&self) -> Result<Connection, TransportError> {
        let certificates = self.certificates.as_ref().filter(|_| self.endpoint.is_encrypted());
        let lacks_certificate = certificates.is_some_and(|certificates| !certificates.is_valid());
        match self.connect_once().await {
            // The server may require a certificate that this agent does not have: its authority is new, or
            // the agent was offline until its certificate expired.
            Err(SessionError::Unauthorized) if lacks_certificate => {}
            done => return done.map_err(|error| self.unavailable(error)),
        }
        if let Some(certificates) = certificates
            && let Err(error) = certificates.renew(&self.endpoint, &self.credential).await
        {
            tracing::warn!(error = %ErrorChain(&error), "cannot get a certificate from the server");
        }
        self.connect_once().await.map_err(|error| self.unavailable(error))
    }

    fn unavailable(&self, source: SessionError) -> TransportError {
        TransportError::unavailable(ServerUnavailable { server: self.endpoint.to_string(), source })
    }

    async fn connect_once(&self) -> Result<Connection, SessionError> {
        let stream = self.endpoint.connect().await?;
        let url = self.endpoint.url("ws", SESSION_PATH);
        let mut request = url.into_client_request().map_err(SessionError::Handshake)?;
        let bearer = HeaderValue::from_str(&format!("Bearer {}", self.credential));
        let mut bearer = bearer.map_err(|_| SessionError::Credential)?;
        bearer.set_sensitive(true);
        request.headers_mut().insert(header::AUTHORIZATION, bearer);
        let config = WebSocketConfig::default()
            .max_message_size(Some(TO_AGENT_BYTES_MAX))
            .max_frame_size(Some(TO_AGENT_BYTES_MAX));
        let handshake = tokio_tungstenite::client_async_with_config(request, stream, Some(config));
        let (socket, _) = match tokio::time::timeout(HANDSHAKE_TIMEOUT, handshake).await {
            Ok(done) => done.map_err(refusal)?,
            Err(_) => return Err(SessionError::Timeout),
        };
        let (received, receive) = mpsc::channel(QUEUE);
        let (send, sending) = mpsc::channel(QUEUE);
        tokio::spawn(transfer(socket, received, sending));
        Ok(Connection { send, receive })
    }
}

impl Transport for WebSocketTransport {
    fn connect(&mut self) -> Connecting<'_> {
        Box::pin(self.open())
    }
}

/// Error of a session that could not be opened, with the address of the server.
#[derive(Debug, thiserror::Error)]
#[error("no session with {server}")]
struct ServerUnavailable {
    server: String,
    source: SessionError,
}

/// Error while opening a session over a WebSocket.
#[derive(Debug, thiserror::Error)]
enum SessionError {
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error("the server rejected the agent's credential; join again with a new token")]
    Unauthorized,
    #[error("the server responded with {0}")]
    Status(StatusCode),
    #[error("the credential contains characters that are invalid in an HTTP header")]
    Credential,
    #[error("timeout during the WebSocket handshake")]
    Timeout,
    #[error("the WebSocket handshake failed")]
    Handshake(#[source] Error),
}

fn refusal(error: Error) -> SessionError {
    match error {
        Error::Http(response)
            if matches!(response.status(), StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) =>
        {
            SessionError::Unauthorized
        }
        Error::Http(response) => SessionError::Status(response.status()),
        other => SessionError::Handshake(other),
    }
}

/// Sends a message and reports success. The send has a timeout, because no data is read meanwhile: a peer
/// that disappeared silently accepts data until the socket buffers are full, and then blocks the send
/// indefinitely.
async fn send(socket: &mut WebSocketStream<Box<dyn Stream>>, message: Message) -> bool {
    let sent = tokio::time::timeout(SILENCE_MAX, socket.send(message)).await;
    if sent.is_err() {
        tracing::warn!("timeout while sending to the server");
    }
    matches!(sent, Ok(Ok(())))
}

/// Transfers messages until either side ends.
async fn transfer(
    mut socket: WebSocketStream<Box<dyn Stream>>,
    received: mpsc::Sender<ToAgent>,
    mut sending: mpsc::Receiver<FromAgent>,
) {
    let mut ping = tokio::time::interval_at(Instant::now() + PING_EVERY, PING_EVERY);
    let mut last_received = Instant::now();
    loop {
        let is_sent = tokio::select! {
            message = sending.recv() => match message {
                Some(message) => send(&mut socket, Message::text(encode_from_agent(&message))).await,
                None => break,
            },
            _ = ping.tick() => send(&mut socket, Message::Ping(Vec::new().into())).await,
            () = tokio::time::sleep_until(last_received + SILENCE_MAX) => {
                tracing::warn!("timeout while waiting for the server");
                break;
            }
            message = socket.next() => {
                last_received = Instant::now();
                match message {
                    Some(Ok(Message::Text(text))) => match decode_to_agent(&text) {
                        Ok(Decoded::Message(message)) => {
                            if received.send(message).await.is_err() {
                                break;
                            }
                            true
                        }
                        Ok(Decoded::Unknown) => match decode_refusal(&text) {
                            Some(why) => {
                                tracing::error!(why, "the server refused this agent");
                                break;
                            }
                            None => true,
                        },
                        Err(error) => {
                            tracing::warn!(error = %ErrorChain(&error), "ignored a malformed message");
                            true
                        }
                    },
                    Some(Ok(Message::Close(_)) | Err(_)) | None => break,
                    Some(Ok(_)) => true,
                }
            }
        };
        if !is_sent {
            break;
        }
    }
    // The peer may be gone already, so do not wait long for the close handshake.
    _ = tokio::time::timeout(Duration::from_secs(1), socket.close(None)).await;
}
