//! WebSocket session between an agent and the server.

use axum::Extension;
use axum::extract::State;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use stoker_engine::session::{FromAgent, ToAgent};
use stoker_model::{Agent, ErrorChain};
use stoker_orchestrator::CredentialDigest;
use stoker_orchestrator::session::{AgentTransport, serve_agent};
use stoker_wire::{Decoded, WireError};

use super::certificate;
use crate::access::token::Secret;
use crate::http::client::{Peer, TlsClient};
use crate::http::error::{ApiError, ApiResult};
use crate::state::App;

/// Rate limiter key for failed agent authentication.
const RATE_LIMIT_KEY: &str = "(agent)";
/// Size of the read buffer and of the write buffer of a connection. Small, because a server holds up to ten
/// thousand mostly idle connections; larger messages take several reads.
const BUFFER_BYTES: usize = 4 << 10;

/// Open an agent session
///
/// Called by agents. Upgrades the connection to a WebSocket that carries agent messages in both directions.
#[utoipa::path(
    get, path = "/api/v1/agents/session",
    responses(
        (status = 101, description = "Switching to the WebSocket protocol"),
        (status = 401, body = stoker_api_types::error::Envelope),
        (status = 429, body = stoker_api_types::error::Envelope, description = "Too many invalid credentials"),
        (status = 426, body = stoker_api_types::error::Envelope, description = "Not a WebSocket upgrade request"),
    )
)]
pub(super) async fn agent_connect(
    State(app): State<App>,
    peer: Peer,
    secured: Option<Extension<TlsClient>>,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, axum::extract::ws::rejection::WebSocketUpgradeRejection>,
) -> ApiResult<Response> {
    let secured = secured.map(|Extension(secured)| secured);
    let (agent, proof) = authenticate(&app, peer, secured, &headers).await?;
    let upgrade = upgrade.map_err(|rejection| {
        let message = format!("expected a WebSocket upgrade: {rejection}");
        ApiError::new(StatusCode::UPGRADE_REQUIRED, message)
    })?;
    let bytes_max = stoker_wire::FROM_AGENT_BYTES_MAX;
    Ok(upgrade
        .read_buffer_size(BUFFER_BYTES)
        .write_buffer_size(BUFFER_BYTES)
        .max_message_size(bytes_max)
        .max_frame_size(bytes_max)
        .on_upgrade(move |socket| async move {
            serve_agent(&app.orchestrator, &agent.uid, Some(proof), Socket(socket)).await;
        }))
}

/// Authenticates an agent by its credential and, if the server has a certificate authority, by its client
/// certificate. Returns the agent and the digest of its credential.
pub(super) async fn authenticate(
    app: &App,
    peer: Peer,
    secured: Option<TlsClient>,
    headers: &HeaderMap,
) -> ApiResult<(Agent, CredentialDigest)> {
    let secret = bearer_secret(headers)?;
    let agent = find_agent(app, peer, &secret).await?;
    if app.tls.as_ref().is_some_and(|tls| tls.authority.is_some()) {
        let mut session = app.store.read().await?;
        certificate::require(&mut session, &agent, secured, app.clock.now()).await?;
    }
    Ok((agent, secret.digest()))
}

/// Authenticates an agent by its credential alone.
pub(super) async fn authenticate_credential(app: &App, peer: Peer, headers: &HeaderMap) -> ApiResult<Agent> {
    find_agent(app, peer, &bearer_secret(headers)?).await
}

fn bearer_secret(headers: &HeaderMap) -> ApiResult<Secret> {
    headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "))
        .map(|text| Secret::new(text.trim()))
        .ok_or_else(|| ApiError::unauthorized("missing agent credential; send `Authorization: Bearer …`"))
}

async fn find_agent(app: &App, peer: Peer, secret: &Secret) -> ApiResult<Agent> {
    let agent = app.store.read().await?.agent_find(&secret.digest()).await?;
    agent.ok_or_else(|| reject_credential(app, peer))
}

/// Counts the failed attempt and returns the error. Only failures are rate limited: after a server restart
/// all agents behind one address reconnect at the same time.
fn reject_credential(app: &App, peer: Peer) -> ApiError {
    match app.access.failures.begin(RATE_LIMIT_KEY, peer.0, app.clock.now()) {
        Ok(()) => ApiError::unauthorized("unknown credential; join again with a new token"),
        Err(seconds) => {
            let message = "too many invalid credentials; try again later";
            let error = ApiError::new(StatusCode::TOO_MANY_REQUESTS, message);
            error.with_header(header::RETRY_AFTER, seconds.into())
        }
    }
}

struct Socket(WebSocket);

impl AgentTransport for Socket {
    async fn receive(&mut self) -> Option<FromAgent> {
        loop {
            match self.0.recv().await?.ok()? {
                Message::Text(text) => match stoker_wire::decode_from_agent(&text) {
                    Ok(Decoded::Message(message)) => return Some(message),
                    // Message type of a newer agent.
                    Ok(Decoded::Unknown) => {}
                    Err(error) => {
                        tracing::warn!(error = %ErrorChain(&error), "invalid message from agent; closing the session");
                        if matches!(error, WireError::Version { .. }) {
                            let refusal = stoker_wire::encode_refusal(&ErrorChain(&error).to_string());
                            // Best effort: the error is also logged.
                            _ = self.0.send(Message::Text(refusal.into())).await;
                        }
                        return None;
                    }
                },
                Message::Close(_) => return None,
                Message::Binary(_) | Message::Ping(_) | Message::Pong(_) => {}
            }
        }
    }

    async fn send(&mut self, message: ToAgent) -> bool {
        self.0.send(Message::Text(stoker_wire::encode_to_agent(&message).into())).await.is_ok()
    }
}
