//! A WebSocket to the server: outbound, one port, through proxies.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use stoker_engine::session::{FromAgent, ToAgent};
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
use crate::endpoint::{Endpoint, Stream};

/// How long the handshake may take.
const HANDSHAKE_MAX: Duration = Duration::from_secs(15);

/// A connection on which nothing is heard, not even an answer to this, is dead; so is one that takes nothing. A server that is
/// only slow has as long as between two of them, and more: whoever leaves it too early says everything again.
const PING_EVERY: Duration = Duration::from_secs(10);
const SILENCE_MAX: Duration = Duration::from_secs(25);

/// Connects with the credential of the agent.
pub struct WebSocketTransport {
    endpoint: Endpoint,
    credential: String,
    certificates: Option<Arc<Certificates>>,
}

impl WebSocketTransport {
    pub fn new(endpoint: Endpoint, credential: String) -> Self {
        Self { endpoint, credential, certificates: None }
    }

    /// With a certificate, where the server wants to see one.
    pub(crate) fn showing(self, certificates: Arc<Certificates>) -> Self {
        Self { certificates: Some(certificates), ..self }
    }

    async fn open(&self) -> Result<Connection, TransportError> {
        let certificates = self.certificates.as_ref().filter(|_| self.endpoint.is_encrypted());
        let has_none = certificates.is_some_and(|certificates| !certificates.is_good());
        match self.connect_once().await {
            // It may be for the want of a certificate: a server that has an authority since yesterday, or an agent that
            // was away for long.
            Err(Refused::Unauthorized) if has_none => {}
            done => return done.map_err(|refused| self.away(refused)),
        }
        if let Some(certificates) = certificates
            && let Err(why) = certificates.renew(&self.endpoint, &self.credential).await
        {
            tracing::warn!(why, "the server gives this agent no certificate");
        }
        self.connect_once().await.map_err(|refused| self.away(refused))
    }

    fn away(&self, refused: Refused) -> TransportError {
        let reason = match refused {
            Refused::Unauthorized => {
                "the server does not accept the credential of this agent; join again with a new token"
                    .to_owned()
            }
            Refused::Other(reason) => reason,
        };
        TransportError::Away(format!("{}: {reason}", self.endpoint))
    }

    async fn connect_once(&self) -> Result<Connection, Refused> {
        let away = Refused::Other;
        let stream = self.endpoint.connect().await.map_err(away)?;
        let url = self.endpoint.url("ws", SESSION_PATH);
        let mut request = url.into_client_request().map_err(|error| away(error.to_string()))?;
        let bearer = HeaderValue::from_str(&format!("Bearer {}", self.credential));
        let mut bearer =
            bearer.map_err(|_| away("the credential has characters that no header can carry".to_owned()))?;
        bearer.set_sensitive(true);
        request.headers_mut().insert(header::AUTHORIZATION, bearer);
        let config = WebSocketConfig::default()
            .max_message_size(Some(TO_AGENT_BYTES_MAX))
            .max_frame_size(Some(TO_AGENT_BYTES_MAX));
        let handshake = tokio_tungstenite::client_async_with_config(request, stream, Some(config));
        let (socket, _) = match tokio::time::timeout(HANDSHAKE_MAX, handshake).await {
            Ok(done) => done.map_err(|error| told(&error))?,
            Err(_) => return Err(away("no answer to the handshake".to_owned())),
        };
        let (received, receive) = mpsc::channel(QUEUE);
        let (send, sending) = mpsc::channel(QUEUE);
        tokio::spawn(carry(socket, received, sending));
        Ok(Connection { send, receive })
    }
}

impl Transport for WebSocketTransport {
    fn connect(&mut self) -> Connecting<'_> {
        Box::pin(self.open())
    }
}

/// Why there is no connection.
enum Refused {
    Unauthorized,
    Other(String),
}

fn told(error: &Error) -> Refused {
    match error {
        Error::Http(response)
            if matches!(response.status(), StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) =>
        {
            Refused::Unauthorized
        }
        Error::Http(response) => Refused::Other(format!("the server answers {}", response.status())),
        other => Refused::Other(other.to_string()),
    }
}

/// Whether it could be sent. Nothing is read meanwhile, so this is bounded, too: a server that was cut off without a word takes
/// what fits into the buffers of the network, and then nothing for ever.
async fn send(socket: &mut WebSocketStream<Box<dyn Stream>>, message: Message) -> bool {
    let sent = tokio::time::timeout(SILENCE_MAX, socket.send(message)).await;
    if sent.is_err() {
        tracing::warn!("the server takes nothing");
    }
    matches!(sent, Ok(Ok(())))
}

/// Carries messages until one side is gone.
async fn carry(
    mut socket: WebSocketStream<Box<dyn Stream>>,
    received: mpsc::Sender<ToAgent>,
    mut sending: mpsc::Receiver<FromAgent>,
) {
    let mut ping = tokio::time::interval_at(Instant::now() + PING_EVERY, PING_EVERY);
    let mut heard = Instant::now();
    loop {
        let is_sent = tokio::select! {
            message = sending.recv() => match message {
                Some(message) => send(&mut socket, Message::text(encode_from_agent(&message))).await,
                None => break,
            },
            _ = ping.tick() => send(&mut socket, Message::Ping(Vec::new().into())).await,
            () = tokio::time::sleep_until(heard + SILENCE_MAX) => {
                tracing::warn!("nothing is heard from the server");
                break;
            }
            message = socket.next() => {
                heard = Instant::now();
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
                                tracing::error!(why, "the server cannot speak with this agent");
                                break;
                            }
                            None => true,
                        },
                        Err(error) => {
                            tracing::warn!(%error, "a message was not understood");
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
    // Whoever is on the other side may be gone already.
    _ = tokio::time::timeout(Duration::from_secs(1), socket.close(None)).await;
}
